/**
 * The round engine. Each member alternates between training alone and a meeting of all; what a meeting leads to is decided by pure
 * functions of what was told there (decide.ts), so there is no leader, and members may come and go at any moment: a change of members
 * is seen by all at the same call, and they meet again.
 */
import { type Clock, realClock } from '../base/clock.ts'
import { Emitter } from '../base/emitter.ts'
import { ArgumentError, UnsupportedError } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'
import { type Aggregator, aggregatorOf } from './aggregate.ts'
import { meetAbout } from './agree.ts'
import { clampBucketBytes } from './buckets.ts'
import { checkpointBytes, decodeCheckpoint, encodeCheckpoint, type RunState } from './checkpoint.ts'
import { decideRound, rowFromNumbers, rowToNumbers } from './decide.ts'
import { type Exchange, exchangeUpdates, shareState } from './exchange.ts'
import { proposeBucketBytes } from './fold.ts'
import { manifestError, manifestOf } from './manifest.ts'
import { type CallOptions, type Meeting, untilSettled } from './meeting.ts'
import type { ServerOptimizer } from './optimizer.ts'
import { assertPrivacy, epsilonOf } from './privacy.ts'
import { fitMoments, hashOfState, layoutOf, startState } from './replica.ts'
import { describeRound } from './roundReport.ts'
import type {
  RoundEvents,
  RoundOptions,
  RoundPhase,
  RoundReport,
  Rounds,
  RunSummary,
  Trainer,
} from './roundTypes.ts'
import { entriesOf } from './tensors.ts'
import { trainAlone } from './training.ts'
import { restingTurn, type Turn, veiled } from './turn.ts'

export function createRounds(group: Group, trainer: Trainer, options: RoundOptions): Rounds {
  return new RoundEngine(group, trainer, options)
}

interface Conclusion {
  /** Undefined: the meeting only gave all the same state. */
  readonly report: RoundReport | undefined
  readonly wantsStop: boolean
}

const defaults = { metrics: ['loss', 'accuracy'], waitSeconds: 120 }

class RoundEngine extends Emitter<RoundEvents> implements Rounds {
  readonly #group: Group
  readonly #trainer: Trainer
  readonly #options: RoundOptions
  readonly #clock: Clock
  readonly #optimizer: ServerOptimizer
  readonly #aggregator: Aggregator
  readonly #metrics: readonly string[]
  readonly #call: CallOptions
  #state: RunState | undefined
  #isSynced = false
  #phase: RoundPhase = 'ended'
  #wantsStop = false
  #isRunning = false
  #training: AbortController | undefined

  constructor(group: Group, trainer: Trainer, options: RoundOptions) {
    super()
    if (!Number.isSafeInteger(options.rounds) || options.rounds < 1)
      throw new ArgumentError('rounds', `Pass a whole number of rounds, 1 or more, not ${options.rounds}.`)
    this.#group = group
    this.#trainer = trainer
    this.#options = options
    this.#clock = options.clock ?? realClock
    this.#optimizer = options.optimizer ?? { kind: 'average' }
    this.#aggregator = aggregatorOf({
      aggregation: options.aggregate ?? 'mean',
      ...(options.wire && { wire: options.wire }),
      ...(options.secrets && { secrets: options.secrets }),
    })
    if (options.privacy) assertPrivacy(options.privacy)
    if (options.privacy && !options.secrets)
      throw new UnsupportedError('privacy', 'Pass `secrets`, or use createRounds of papilio/federated.')
    if (this.#aggregator.isSecret && options.guard?.maxNormRatio !== undefined)
      throw new ArgumentError('guard.maxNormRatio', 'Norms of secret updates are not told: leave it away.')
    this.#metrics = options.metrics ?? defaults.metrics
    this.#call = { timeoutMs: (options.waitSeconds ?? defaults.waitSeconds) * 1000 }
    if (options.checkpoint) {
      this.#state = decodeCheckpoint(options.checkpoint)
      this.#isSynced = true
    }
  }

  get round() {
    return this.#state?.round ?? 0
  }
  get phase() {
    return this.#phase
  }

  stop() {
    this.#wantsStop = true
    this.#training?.abort()
  }

  checkpoint() {
    if (!this.#state)
      throw new ArgumentError('checkpoint', 'There is nothing to keep yet: the run has not begun.')
    return encodeCheckpoint(this.#state)
  }

  async run(): Promise<RunSummary> {
    if (this.#isRunning) throw new ArgumentError('run', 'This run is in progress already.')
    this.#isRunning = true
    try {
      const rounds: RoundReport[] = []
      let turn = await this.#begin()
      for (;;) {
        const { report, wantsStop } = await this.#conclude(turn)
        if (report) {
          rounds.push(report)
          this.emit('round', report)
        }
        const isComplete = this.round >= this.#options.rounds
        if (wantsStop || isComplete) return { rounds, ending: isComplete ? 'complete' : 'stopped' }
        turn = await this.#takeTurn()
      }
    } finally {
      this.#isRunning = false
      this.#wantsStop = false
      this.#enter('ended')
    }
  }

  /** The state to begin with: of a checkpoint, of the run before, or as the trainer has it. */
  async #begin(): Promise<Turn> {
    const entries = entriesOf(await this.#trainer.read())
    const manifest = manifestOf(entries)
    const state = this.#state ?? startState(entries, manifest, this.#optimizer)
    if (state.manifest !== manifest) {
      const self = { rank: this.#group.rank, peerId: this.#group.peerId, name: 'the model' }
      throw manifestError('tensors in model and checkpoint', [
        { peer: { ...self, name: 'the checkpoint' }, text: state.manifest },
        { peer: self, text: manifest },
      ])
    }
    this.#state = fitMoments(state, entries, this.#optimizer)
    await this.#trainer.write(Object.fromEntries(state.model))
    return restingTurn(entries, { hasTurn: false })
  }

  async #takeTurn(): Promise<Turn> {
    if (this.#options.observe) return restingTurn(entriesOf(await this.#trainer.read()), { hasTurn: true })
    this.#enter('training')
    const controller = new AbortController()
    this.#training = controller
    if (this.#wantsStop) controller.abort()
    const training = {
      trainer: this.#trainer,
      options: this.#options,
      clock: this.#clock,
      controller,
      onError: (error: unknown) => this.emit('trainerError', error),
    }
    const turn = await trainAlone(training, this.#state!)
    this.#training = undefined
    return turn
  }

  /** From this member's turn to the next state: once, or more often when members are lost or join on the way. */
  async #conclude(brought: Turn): Promise<Conclusion> {
    let turn = brought
    const begin = this.#clock.now()
    return untilSettled(async () => {
      this.#enter(turn.hasTurn ? 'waiting' : 'meeting')
      const meeting = await this.#meet(turn)
      const met = this.#clock.now()
      const rows = meeting.present.map(({ peer, record }) => rowFromNumbers(peer, record))
      const decision = decideRound(rows, this.#options.guard ?? {})
      const reports = [meeting.report]
      if (decision.stale.length > 0) {
        this.#enter('syncing')
        const shared = await shareState(this.#group, decision, this.#state!, meeting, this.#call)
        if (!shared) return undefined
        reports.push(shared.report)
        if (decision.stale.some(({ peer }) => peer.peerId === this.#group.peerId)) {
          this.#state = fitMoments(shared.state, turn.entries, this.#optimizer)
          // What was trained on another state does not count, now or when the members meet again.
          turn = restingTurn(turn.entries, { hasTurn: false })
          this.emit('synced', { from: decision.source.peer, round: this.round, bytes: shared.bytes })
        }
      }
      const { wantsStop } = decision
      if (decision.isStart) {
        this.#isSynced = true
        await this.#trainer.write(Object.fromEntries(this.#state!.model))
        return { report: undefined, wantsStop }
      }
      this.#enter('exchanging')
      const exchange: Exchange = {
        group: this.#group,
        place: meeting,
        call: this.#call,
        aggregator: this.#aggregator,
        optimizer: this.#optimizer,
        bucketBytes: clampBucketBytes(rows[0]!.bucketBytes),
      }
      const next = await exchangeUpdates(exchange, decision, turn, this.#state!)
      if (!next) return undefined
      reports.push(...next.reports)
      this.#state = next.state
      this.#isSynced = true
      await this.#trainer.write(Object.fromEntries(next.state.model))
      const total = (of: (report: Report) => number) => reports.reduce((sum, report) => sum + of(report), 0)
      const { privacy } = this.#options
      const report: RoundReport = {
        round: next.state.round,
        rounds: this.#options.rounds,
        epoch: meeting.epoch,
        ...describeRound(rows, decision, this.#metrics, this.#aggregator.isWeighted),
        ...(privacy && { epsilon: epsilonOf({ ...privacy, rounds: next.state.round }) }),
        norm: next.norm,
        hash: next.hash,
        bytesSent: total(({ bytesSent }) => bytesSent),
        bytesReceived: total(({ bytesReceived }) => bytesReceived),
        seconds: { train: turn.trainSeconds, wait: met - begin, exchange: this.#clock.now() - met },
      }
      return { report, wantsStop }
    })
  }

  #meet(turn: Turn): Promise<Meeting> {
    // What is each member's own affair need not be the same.
    const { checkpoint, clock, localSeconds, observe, secrets, waitSeconds, ...settings } = this.#options
    const state = this.#state!
    const { update, extras } = layoutOf(turn.entries)
    const numbers = rowToNumbers({
      ...turn,
      ...(this.#aggregator.isSecret && veiled(turn)),
      isSynced: this.#isSynced,
      wantsStop: this.#wantsStop,
      round: state.round,
      state: hashOfState(state),
      stateBytes: checkpointBytes(state),
      bucketBytes: proposeBucketBytes(this.#group, [update, ...extras]),
      metrics: this.#metrics.map((name) => turn.metrics[name] ?? Number.NaN),
    })
    const manifest = manifestOf(turn.entries, {
      ...settings,
      optimizer: this.#optimizer,
      metrics: this.#metrics,
    })
    return meetAbout(
      this.#group,
      { name: 'round: meeting', what: 'models or settings', manifest },
      numbers,
      this.#call,
    )
  }

  #enter(phase: RoundPhase) {
    this.#phase = phase
    this.emit('phase', { round: this.round, phase })
  }
}
