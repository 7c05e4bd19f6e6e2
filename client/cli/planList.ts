/** The registry as `papilio plan --list` shows it. */
import { algorithms } from '../../shared/schedule/registry.ts'
import type { Algorithm } from '../../shared/schedule/types.ts'

/** More values than this are counted instead of listed. */
const MOST_VALUES = 64

/** Plain data for JSON; with a size also the values of every parameter and what each variant is for that size. */
export function describeAlgorithms(size: number | undefined) {
  return algorithms.map((algorithm) => {
    const { name, title, collective, source, baseline, restrictions, parameters } = algorithm
    return {
      name,
      title,
      collective,
      source,
      baseline,
      restrictions,
      parameters: parameters.map((parameter) => ({
        name: parameter.name,
        description: parameter.description,
        ...(size === undefined ? {} : { values: parameter.values(size).slice(0, MOST_VALUES) }),
      })),
      ...(size === undefined ? {} : { variants: describeVariants(algorithm, size) }),
    }
  })
}

function describeVariants(algorithm: Algorithm, size: number) {
  return algorithm.variants(size).map((settings) => {
    const { steps, chunks } = algorithm.shape(size, settings)
    const ordered = algorithm.ordered(size, settings)
    return { settings, steps, chunks, identical: algorithm.identical(size, settings), ordered }
  })
}

export function listAlgorithms(size: number | undefined): string[] {
  const lines: string[] = []
  let heading = ''
  for (const algorithm of [...algorithms].sort((a, b) => order(a) - order(b))) {
    if (algorithm.collective !== heading) {
      lines.push(...(heading === '' ? [] : ['']), algorithm.collective)
      heading = algorithm.collective
    }
    const { restrictions } = algorithm
    const notes = [
      algorithm.title,
      ...(algorithm.baseline ? ['baseline'] : []),
      ...(restrictions.links === 'all' ? ['needs all links'] : []),
      ...(restrictions.commutative ? [] : ['keeps rank order']),
      ...(restrictions.idempotent ? ['only for min, max, and, or'] : []),
      ...(size === undefined ? [] : [`${algorithm.variants(size).length} variants for ${size} ranks`]),
    ]
    const settings = algorithm.parameters.map((parameter) => ` --${parameter.name}`).join('')
    lines.push(`  ${`${algorithm.name}${settings}`.padEnd(34)} ${notes.join('; ')}`)
  }
  return lines
}

function order(algorithm: Algorithm): number {
  return algorithms.findIndex((candidate) => candidate.collective === algorithm.collective)
}
