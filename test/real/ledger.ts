/** What the members of a room that never ends have got from their ops, until all who stayed can be compared. */
import type { Ended } from './messages.ts'
import { flaws, told } from './verdict.ts'

export interface Ledger {
  note(member: number, op: string, result: Ended, at: number): void
  /** Judges the ops that nobody has ended in the last seconds, by those members who are still in. */
  settle(before: number, isIn: (member: number) => boolean): string[]
  readonly ops: number
}

export function createLedger(): Ledger {
  const open = new Map<string, { at: number; results: Map<number, Ended> }>()
  let ops = 0
  return {
    note(member, op, result, at) {
      const entry = open.get(op) ?? { at, results: new Map() }
      open.set(op, entry)
      entry.at = Math.max(entry.at, at)
      entry.results.set(member, result)
    },
    settle(before, isIn) {
      const violations: string[] = []
      for (const [op, { at, results }] of open) {
        if (at > before) continue
        open.delete(op)
        ops++
        const stayed = [...results].filter(([member]) => isIn(member))
        for (const [member, result] of stayed)
          for (const flaw of flaws(result)) violations.push(`op ${op} on member ${member}: ${flaw}`)
        const distinct = new Set(stayed.map(([, result]) => told(result)))
        if (distinct.size > 1)
          violations.push(
            `op ${op}: members differ: ${[...distinct].join(' | ')} (${stayed.map(([member]) => member)})`,
          )
      }
      return violations
    },
    get ops() {
      return ops
    },
  }
}
