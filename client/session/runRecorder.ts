/** The runs that one member sees, each from its start to the moment when all that is left of its group have told their results. */
import type { Clock } from '../../shared/base/clock.ts'
import type { Group, Report } from '../../shared/collective/types.ts'
import type { Member } from '../../shared/membership/types.ts'
import type { RankResult, RunError } from './messages.ts'
import { type RunResults, survivorsOf } from './outcome.ts'
import type { Compared } from './part.ts'
import type { RunStart } from './runEvents.ts'
import type { RunMember } from './runs.ts'

export interface RunRecord extends RunResults {
  readonly start: RunStart
  /** This rank's last report of each variant. */
  readonly reports: ReadonlyMap<number, Report>
  readonly error: RunError | undefined
}

export interface RunRecorderConfig {
  readonly group: Group
  readonly member: RunMember
  readonly clock: Clock
  onStart(record: RunRecord): void
  onEnd(record: RunRecord): void
}

/** The leader's word that a run is over may come before a rank's result, over another link. */
const patienceSeconds = 2

class OpenRecord implements RunRecord {
  readonly start: RunStart
  readonly members: readonly Member[]
  readonly lost: Member[] = []
  readonly results = new Map<number, Map<string, RankResult>>()
  readonly spreads = new Map<number, Compared>()
  readonly reports = new Map<number, Report>()
  error: RunError | undefined
  hasFinished = false

  constructor(start: RunStart, members: readonly Member[]) {
    this.start = start
    this.members = members
  }

  get isComplete(): boolean {
    if (this.error) return true
    const survivors = survivorsOf(this)
    return this.start.spec.variants.every((_, variant) =>
      survivors.every(({ peerId }) => this.results.get(variant)?.has(peerId)),
    )
  }
}

export class RunRecorder {
  readonly #config: RunRecorderConfig
  readonly #off: (() => void)[]
  #open: OpenRecord | undefined
  #cancelEnd = () => {}

  constructor(config: RunRecorderConfig) {
    const { group, member } = config
    this.#config = config
    /** Of the run that is recorded; another one is none of ours. */
    const record = (runId: string, note: (open: OpenRecord) => void) => {
      if (this.#open?.start.runId !== runId) return
      note(this.#open)
      this.#settle()
    }
    this.#off = [
      group.on('view', () => this.#look()),
      member.on('started', (start) => {
        this.#end()
        this.#open = new OpenRecord(start, group.members)
        config.onStart(this.#open)
      }),
      member.on('report', ({ runId, call, report }) =>
        record(runId, (open) => open.reports.set(call.variant, report)),
      ),
      member.on('result', ({ runId, peerId, result }) =>
        record(runId, ({ results }) => {
          const ofVariant = results.get(result.variant) ?? new Map()
          results.set(result.variant, ofVariant.set(peerId, result))
        }),
      ),
      member.on('spread', ({ runId, variant, spread }) =>
        record(runId, (open) => open.spreads.set(variant, spread)),
      ),
      member.on('failed', ({ runId, error }) =>
        record(runId, (open) => {
          open.error ??= error
        }),
      ),
      member.on('finished', ({ runId, error }) =>
        record(runId, (open) => {
          open.error = error ?? open.error
          open.hasFinished = true
          this.#cancelEnd = config.clock.after(patienceSeconds, () => this.#end())
        }),
      ),
    ]
  }

  close(): void {
    this.#cancelEnd()
    for (const off of this.#off) off()
  }

  #look(): void {
    const open = this.#open
    if (!open) return
    const { roster } = this.#config.group
    const isHere = (peerId: string) => roster.some((member) => member.peerId === peerId)
    open.lost.push(...survivorsOf(open).filter(({ peerId }) => !isHere(peerId)))
    this.#settle()
  }

  #settle(): void {
    if (this.#open?.hasFinished && this.#open.isComplete) this.#end()
  }

  #end(): void {
    this.#cancelEnd()
    const open = this.#open
    this.#open = undefined
    if (open?.hasFinished) this.#config.onEnd(open)
  }
}
