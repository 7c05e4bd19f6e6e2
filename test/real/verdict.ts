/**
 * The invariants of docs/data-plane.md on what the peers of a scenario have said: all survivors end each op alike, with the same data and the
 * same contributors; every contribution is in the result at most once, those of the survivors exactly once.
 */
import type { Ended, Outcome } from './messages.ts'

export interface Witness {
  /** Its contribution is the bit 2^index. */
  readonly index: number
  readonly outcomes: readonly Outcome[]
}

const bitsOf = (indices: readonly number[]) => indices.reduce((sum, index) => sum + 2 ** index, 0)

/** What is wrong with one result, whoever got it. */
export function flaws(result: Ended): string[] {
  if ('error' in result) return [`failed: ${result.error}`]
  const { bits, contributors } = result
  const expected = bitsOf(contributors)
  const isWrong = bits !== undefined && bits !== expected
  return [
    ...result.faults,
    ...(new Set(contributors).size === contributors.length ? [] : ['a contributor is listed twice']),
    ...(isWrong ? [`the sum has ${bits}, the data of peers ${contributors} would be ${expected}`] : []),
  ]
}

/** @param ops that each survivor must have ended */
export function violationsOf(survivors: readonly Witness[], ops: number): string[] {
  const violations: string[] = []
  for (let op = 0; op < ops; op++) {
    const results = survivors.map(({ index, outcomes }) => ({
      index,
      result: outcomes.find((outcome) => outcome.op === op)?.result,
    }))
    for (const { index, result } of results) {
      if (!result) violations.push(`op ${op} did not end on peer ${index}`)
      else for (const flaw of flaws(result)) violations.push(`op ${op} on peer ${index}: ${flaw}`)
      if (result && 'contributors' in result)
        for (const survivor of survivors)
          if (!result.contributors.includes(survivor.index))
            violations.push(`op ${op} on peer ${index}: without survivor ${survivor.index}`)
    }
    const distinct = new Set(results.flatMap(({ result }) => (result ? [told(result)] : [])))
    if (distinct.size > 1) violations.push(`op ${op}: the survivors differ: ${[...distinct].join(' | ')}`)
  }
  return violations
}

export const told = (result: Ended) =>
  'error' in result ? result.error : `${result.bits} of ${result.contributors.join(' ')}`
