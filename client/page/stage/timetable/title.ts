import type { Schedule } from '../../../../shared/schedule/types.ts'

/** "butterfly, r = 1, P = 7" */
export function titleOf({ algorithm, settings, size }: Schedule): string {
  const words = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  return [algorithm, ...words, `P = ${size}`].join(', ')
}
