import type { Schedule } from '../../../../shared/schedule/types.ts'

/** "butterfly, r = 1, P = 7". The cyclic group goes without saying: it exists for every P. */
export function titleOf({ algorithm, settings, size }: Schedule): string {
  const words = Object.entries(settings)
    .filter(([name, value]) => !(name === 'group' && value === 'cyclic'))
    .map(([name, value]) => `${name} = ${value}`)
  return [algorithm, ...words, `P = ${size}`].join(', ')
}
