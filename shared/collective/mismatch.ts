/**
 * What happens when ranks meet in an op with different calls. Frames carry only a hash of the call; once a rank sees another hash, all ranks
 * tell each other their whole calls, and each ends with the same error, which has every rank's value of the field that differs. No data of the
 * op is used after that, and no input was touched.
 */
import type { Clock } from '../base/clock.ts'
import { MismatchError } from '../base/errors.ts'
import type { Call } from './control.ts'
import type { OpRequest } from './engine.ts'

/** How long to wait for the calls of ranks that do not answer. */
const collectSeconds = 1

const fields: readonly (keyof Call)[] = [
  'collective',
  'name',
  'dtype',
  'wire',
  'count',
  'layout',
  'operator',
  'nonFinite',
  'algorithm',
  'model',
]

export interface Mismatches {
  /** A rank's frame carries another signature than this rank's call. */
  open(request: OpRequest): void
  /** This rank has called the op: if others have found a mismatch before, it joins in. */
  called(request: OpRequest): void
  heard(op: number, peerId: string, call: Call): void
  close(op: number): void
}

interface Case {
  readonly heard: Map<string, Call>
  request?: OpRequest
  cancel?: () => void
}

export function createMismatches(config: {
  clock: Clock
  tell(op: number, call: Call): void
  onVerdict(op: number, error: MismatchError): void
}): Mismatches {
  const cases = new Map<number, Case>()
  const caseOf = (op: number) => {
    const found = cases.get(op) ?? { heard: new Map<string, Call>() }
    cases.set(op, found)
    return found
  }
  const join = (found: Case, request: OpRequest) => {
    if (found.request) return
    found.request = request
    found.heard.set(request.attempt.members[request.attempt.rank]!.peerId, request.call)
    config.tell(request.op, request.call)
    found.cancel = config.clock.after(collectSeconds, () => decide(found, request))
    decideWhenAllAreHeard(found)
  }
  const decideWhenAllAreHeard = (found: Case) => {
    const { request } = found
    if (request?.attempt.members.every((member) => found.heard.has(member.peerId))) decide(found, request)
  }
  const decide = (found: Case, request: OpRequest) => {
    found.cancel?.()
    config.onVerdict(request.op, verdict(found, request))
  }

  const requests = new Map<number, OpRequest>()
  return {
    open: (request) => join(caseOf(request.op), request),
    called(request) {
      requests.set(request.op, request)
      const found = cases.get(request.op)
      if (found) join(found, request)
    },
    heard(op, peerId, call) {
      const found = caseOf(op)
      found.heard.set(peerId, call)
      const request = requests.get(op)
      if (request) join(found, request)
      decideWhenAllAreHeard(found)
    },
    close(op) {
      cases.get(op)?.cancel?.()
      cases.delete(op)
      requests.delete(op)
    },
  }
}

function verdict(found: Case, { op, attempt }: OpRequest): MismatchError {
  const calls = attempt.members.flatMap((member, rank) => {
    const call = found.heard.get(member.peerId)
    return call ? [{ rank, member, call }] : []
  })
  const field = fields.find((name) => new Set(calls.map(({ call }) => call[name])).size > 1) ?? 'collective'
  const values = calls
    .map(({ rank, member, call }) => `${member.name} (rank ${rank}): ${call[field]}`)
    .join(', ')
  const byRank = Object.fromEntries(calls.map(({ rank, call }) => [rank, call[field]]))
  return new MismatchError(
    `The ranks made different calls in op ${op}. ${field}: ${values}. Make the same call on every rank.`,
    {
      field,
      byRank,
    },
  )
}
