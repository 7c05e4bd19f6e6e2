/** One rank's part of a run: the calls that rank 0 announces, each result checked before it counts. */
import type { Group, Progress, Report } from '../../shared/collective/types.ts'
import { meshSize } from '../../shared/schedule/links.ts'
import { dtypes, type NumericArray } from '../../shared/wire/dtype.ts'
import { hashBits, type Spread, spreadOf } from './bits.ts'
import { maxTrace, type RankResult } from './messages.ts'
import { type Call, callAt, countOf, optionsOf, type RunSpec, timeoutOf } from './runSpec.ts'
import { fillVector, streamOf } from './vectors.ts'
import { type Reference, type Verdict, verify } from './verify.ts'

/** Distances are measured over the first 4 MiB only: that costs two more allreduces. */
const comparedBytes = 4 * 1024 * 1024

/** Elements between two looks at the clock. */
const pieceLength = 65536

/** Verdicts by what was checked, shared by the members of one page: the same bits need to be checked once. */
export type VerdictCache = Map<string, Promise<Verdict>>

export interface Compared extends Spread {
  /** Elements that were looked at. */
  readonly compared: number
}

export interface PartConfig {
  group: Group
  runId: string
  seed: number
  spec: RunSpec
  verdicts: VerdictCache
  /** Gives the page a moment during long loops. */
  breathe: () => Promise<void> | undefined
  onProgress(progress: Progress): void
  onReport(call: Call, report: Report): void
  onResult(result: RankResult): void
}

export class RunPart {
  readonly #config: PartConfig
  readonly #abort = new AbortController()
  readonly #input: NumericArray
  readonly #output: NumericArray
  readonly #tallies = new Map<number, Tally>()

  constructor(config: PartConfig) {
    const { dtype } = config.spec
    this.#config = config
    this.#input = dtypes[dtype].create(countOf(config.spec))
    this.#output = dtypes[dtype].create(countOf(config.spec))
  }

  /** Makes the vector, in pieces, so that a page stays alive. */
  async prepare(): Promise<void> {
    const { spec, seed, group, breathe } = this.#config
    const stream = streamOf(seed, group.peerId)
    for (let first = 0; first < this.#input.length; first += pieceLength) {
      fillVector(spec.dtype, this.#input.subarray(first, first + pieceLength), stream, spec.data, first)
      const pause = breathe()
      if (pause !== undefined) await pause
    }
  }

  /** Makes call `index`; the hash of the result when it was the last of its variant. */
  async go(index: number): Promise<string | undefined> {
    const { spec, group, runId, onProgress, onReport, onResult } = this.#config
    const call = callAt(spec, index)
    const { report } = await group.allreduce(this.#input, {
      ...this.#options(),
      ...optionsOf(spec.variants[call.variant]!),
      op: spec.op,
      dtype: spec.dtype,
      consistency: spec.consistency,
      into: this.#output,
      name: `run ${runId} call ${index}`,
      onProgress,
    })
    if (call.isWarmup) return undefined
    onReport(call, report)
    const hash = hashBits(this.#output)
    const tally = this.#tallies.get(call.variant) ?? createTally()
    this.#tallies.set(call.variant, tally)
    tally.add(report, await this.#check(report, hash))
    if (!call.isLast) return undefined
    onResult(tally.result(call.variant, group.rank, hash))
    return hash
  }

  /** How far apart the ranks are in the result of the last call. Both calls are made at once: they are announced as one. */
  async compare(): Promise<Compared> {
    const compared = Math.min(this.#output.length, Math.floor(comparedBytes / this.#output.BYTES_PER_ELEMENT))
    const data = this.#output.subarray(0, compared)
    const [low, high] = await Promise.all(
      (['min', 'max'] as const).map((op) =>
        this.#config.group.allreduce(data, {
          ...this.#options(),
          op,
          dtype: this.#config.spec.dtype,
          name: `run ${this.#config.runId} ${op}`,
        }),
      ),
    )
    return { ...spreadOf(this.#config.spec.dtype, low!.data, high!.data), compared }
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason)
  }

  #options() {
    const { spec, group } = this.#config
    return { signal: this.#abort.signal, timeoutMs: timeoutOf(spec, group.size) }
  }

  #check(report: Report, hash: string): Promise<Verdict> {
    const { spec, seed, verdicts, runId, breathe } = this.#config
    const reference: Reference = {
      op: spec.op,
      dtype: spec.dtype,
      kind: spec.data,
      streams: report.contributors.map((member) => streamOf(seed, member.peerId)),
    }
    const key = `${runId} ${hash} ${reference.streams.join(' ')}`
    const known = verdicts.get(key) ?? verify(this.#output, reference, breathe)
    verdicts.set(key, known)
    return known
  }
}

interface Tally {
  add(report: Report, verdict: Verdict): void
  result(variant: number, rank: number, hash: string): RankResult
}

/** The measured repeats of one variant. */
function createTally(): Tally {
  const reports: Report[] = []
  const verdicts: Verdict[] = []
  return {
    add(report, verdict) {
      reports.push(report)
      verdicts.push(verdict)
    },
    result(variant, rank, hash) {
      const report = reports.at(-1)!
      const firstWrong = verdicts.find((verdict) => verdict.firstWrong)?.firstWrong
      return {
        variant,
        rank,
        algorithm: report.algorithm,
        settings: report.settings,
        steps: report.steps,
        bytesSent: report.bytesSent,
        bytesReceived: report.bytesReceived,
        contributors: report.contributors.map((member) => member.peerId),
        seconds: reports.map((each) => each.seconds),
        predictedSeconds: report.predictedSeconds,
        identicalByDesign: report.identical,
        why: report.why,
        wrong: verdicts.reduce((sum, verdict) => sum + verdict.wrong, 0),
        exact: verdicts.every((verdict) => verdict.exact),
        largestError: Math.max(...verdicts.map((verdict) => verdict.largestError)),
        ...(firstWrong ? { firstWrong } : {}),
        hash,
        ...(isSmall(report) && { trace: report.messages.map(packTrace) }),
      }
    },
  }
}

/** In a large group every result passes every member: there, only short traces go with it. */
function isSmall({ messages, contributors }: Report): boolean {
  return messages.length <= maxTrace && messages.length * contributors.length <= maxTrace * meshSize
}

const microseconds = (seconds: number) => Math.round(seconds * 1e6) / 1e6

function packTrace(message: Report['messages'][number]): NonNullable<RankResult['trace']>[number] {
  const { step, direction, peer, bytes, begin, end } = message
  return [step, direction === 'send' ? 0 : 1, peer, bytes, microseconds(begin), microseconds(end)]
}
