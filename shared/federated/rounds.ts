/**
 * The round engine. Each member alternates between training alone and a meeting of all; what a meeting leads to is decided by pure
 * functions of what was told there (decide.ts), so there is no leader, and members may come and go at any moment: a change of members
 * is seen by all at the same call, and they meet again.
 */
import { type Clock, realClock } from '../base/clock.ts'
import { Emitter } from '../base/emitter.ts'
import { ArgumentError, ProtocolError, UnsupportedError } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'
import { type Aggregator, aggregatorOf, foldExtras } from './aggregate.ts'
import { agreeOnHash, meetAbout } from './agree.ts'
import { broadcastBytes } from './broadcast.ts'
import { clampBucketBytes } from './buckets.ts'
import {
  checkpointBytes,
  decodeCheckpoint,
  encodeCheckpoint,
  maxCheckpointBytes,
  type RunState,
} from './checkpoint.ts'
import { type Decision, decideRound, type Row, rowFromNumbers, rowToNumbers } from './decide.ts'
import { proposeBucketBytes } from './fold.ts'
import { manifestError, manifestOf } from './manifest.ts'
import { type CallOptions, type Meeting, untilSettled } from './meeting.ts'
import type { ServerOptimizer } from './optimizer.ts'
import { assertPrivacy, epsilonOf, makePrivate } from './privacy.ts'
import { rateAt } from './rates.ts'
import { fitMoments, hashOfState, layoutOf, nextState, startState, updateFrom } from './replica.ts'
import { describeRound } from './roundReport.ts'
import type {
  LocalResult,
  LocalTask,
  RoundEvents,
  RoundOptions,
  RoundPhase,
  RoundReport,
  Rounds,
  RunSummary,
  Trainer,
} from './roundTypes.ts'
import { type Entry, entriesOf, firstNonFinite } from './tensors.ts'
import { assertSamples } from './weights.ts'

export function createRounds(group: Group, trainer: Trainer, options: RoundOptions): Rounds {
  return new RoundEngine(group, trainer, options)
}

/** What this member brings to a meeting. */
interface Turn
  extends Pick<Row, 'hasTurn' | 'hasFailed' | 'isFinite' | 'samples' | 'norm' | 'peak' | 'trainSeconds'> {
  readonly metrics: Readonly<Record<string, number>>
  /** The local tensors, trained or not. */
  readonly entries: readonly Entry[]
  readonly update: Float32Array
}

interface Conclusion {
  /** Undefined: the meeting only gave all the same state. */
  readonly report: RoundReport | undefined
  readonly wantsStop: boolean
}

const defaults = { epochs: 1, learningRate: 0.1, metrics: ['loss', 'accuracy'], waitSeconds: 120 }

class RoundEngine extends Emitter<RoundEvents> implements Rounds {
  readonly #group: Group
  readonly #trainer: Trainer
  readonly #options: RoundOptions
  readonly #clock: Clock
  readonly #optimizer: ServerOptimizer
  readonly #aggregation: Aggregator
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
    this.#aggregation = aggregatorOf({
      aggregation: options.aggregate ?? 'mean',
      ...(options.wire && { wire: options.wire }),
      ...(options.secrets && { secrets: options.secrets }),
    })
    if (options.privacy) assertPrivacy(options.privacy)
    if (options.privacy && !options.secrets)
      throw new UnsupportedError('privacy', 'Pass `secrets`, or use createRounds of papilio/federated.')
    if (this.#aggregation.isSecret && options.guard?.maxNormRatio !== undefined)
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
    return restingTurn(entries, false)
  }

  /** The training of one round, for as long as this peer's time lasts. */
  async #takeTurn(): Promise<Turn> {
    const state = this.#state!
    const { observe, localSeconds, epochs, learningRate, proximal = 0 } = this.#options
    if (observe) return restingTurn(entriesOf(await this.#trainer.read()), true)
    this.#enter('training')
    const controller = new AbortController()
    this.#training = controller
    if (this.#wantsStop) controller.abort()
    const cancel =
      localSeconds === undefined ? () => {} : this.#clock.after(localSeconds, () => controller.abort())
    const begin = this.#clock.now()
    const trained = await this.#train({
      round: state.round,
      epochs: rateAt(epochs ?? defaults.epochs, state.round),
      learningRate: rateAt(learningRate ?? defaults.learningRate, state.round),
      proximal,
      reference: Object.fromEntries(state.model),
      signal: controller.signal,
    })
    cancel()
    this.#training = undefined
    const trainSeconds = this.#clock.now() - begin
    const entries = entriesOf(await this.#trainer.read())
    if (!trained) return { ...restingTurn(entries, true), hasFailed: true, trainSeconds }
    const { samples, metrics = {} } = trained
    const update = updateFrom(state, entries)
    const { privacy, secrets } = this.#options
    if (privacy && secrets) makePrivate(update, privacy, secrets)
    return {
      hasTurn: true,
      hasFailed: false,
      samples,
      metrics,
      trainSeconds,
      entries,
      update,
      ...measure(update),
    }
  }

  async #train(task: LocalTask): Promise<LocalResult | undefined> {
    try {
      const result = await this.#trainer.train(task)
      assertSamples(result.samples)
      return result
    } catch (error) {
      this.emit('trainerError', error)
      return undefined
    }
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
        const report = await this.#sync(decision, turn, meeting)
        if (!report) return undefined
        reports.push(report)
        // What was trained on another state does not count, now or when the members meet again.
        if (decision.stale.some(({ peer }) => peer.peerId === this.#group.peerId))
          turn = restingTurn(turn.entries, false)
      }
      const { wantsStop } = decision
      if (decision.isStart) {
        this.#isSynced = true
        await this.#trainer.write(Object.fromEntries(this.#state!.model))
        return { report: undefined, wantsStop }
      }
      this.#enter('exchanging')
      const next = await this.#exchange(decision, turn, meeting, clampBucketBytes(rows[0]!.bucketBytes))
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
        ...describeRound(rows, decision, this.#metrics, this.#aggregation.isWeighted),
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
    const { rounds, epochs, learningRate, proximal, aggregate, guard, wire, privacy } = this.#options
    const settings = {
      rounds,
      epochs,
      learningRate,
      proximal,
      aggregate,
      guard,
      wire,
      privacy,
      optimizer: this.#optimizer,
      metrics: this.#metrics,
    }
    const state = this.#state!
    const { update, extras } = layoutOf(turn.entries)
    const numbers = rowToNumbers({
      ...turn,
      // Of a secret update only the order of magnitude of its largest element is told, which fixes the point of its numbers.
      ...(this.#aggregation.isSecret && {
        norm: 0,
        peak: turn.peak > 0 ? 2 ** Math.ceil(Math.log2(turn.peak)) : 0,
      }),
      isSynced: this.#isSynced,
      wantsStop: this.#wantsStop,
      round: state.round,
      state: hashOfState(state),
      stateBytes: checkpointBytes(state),
      bucketBytes: proposeBucketBytes(this.#group, [update, ...extras]),
      metrics: this.#metrics.map((name) => turn.metrics[name] ?? Number.NaN),
    })
    const manifest = manifestOf(turn.entries, settings)
    return meetAbout(
      this.#group,
      { name: 'round: meeting', what: 'models or settings', manifest },
      numbers,
      this.#call,
    )
  }

  /** The source's state for those that have another. */
  async #sync({ source, stale }: Decision, turn: Turn, meeting: Meeting): Promise<Report | undefined> {
    if (source.stateBytes > maxCheckpointBytes)
      throw new ProtocolError(`${source.peer.name} has announced a state of ${source.stateBytes} bytes`)
    const isSource = source.peer.peerId === this.#group.peerId
    const sent = await broadcastBytes(
      this.#group,
      {
        source: source.peer.peerId,
        length: source.stateBytes,
        ...(isSource && { bytes: encodeCheckpoint(this.#state!) }),
      },
      meeting,
      this.#call,
    )
    if (!sent) return undefined
    if (stale.some(({ peer }) => peer.peerId === this.#group.peerId)) {
      const state = decodeCheckpoint(sent.bytes)
      if (state.manifest !== this.#state!.manifest || hashOfState(state) !== source.state)
        throw new ProtocolError(`the state from ${source.peer.name} is not the one that was announced`)
      this.#state = fitMoments(state, turn.entries, this.#optimizer)
      this.emit('synced', { from: source.peer, round: state.round, bytes: sent.bytes.length })
    }
    return sent.report
  }

  /** Updates in, next state out; nothing of this member has changed before all have said that theirs is the same. */
  async #exchange(decision: Decision, turn: Turn, meeting: Meeting, bucketBytes: number) {
    const state = this.#state!
    const samples = new Map(decision.counted.map((row) => [row.peer.peerId, row.samples]))
    const isCounted = samples.has(this.#group.peerId)
    const layout = layoutOf(turn.entries)
    const update = isCounted ? turn.update : new Float32Array(layout.update.count)
    const group = this.#group
    const shared = { group, place: meeting, call: this.#call, samples, bucketBytes }
    const peak = Math.max(...decision.counted.map((row) => row.peak))
    const aggregated = await this.#aggregation.run({ ...shared, update, peak })
    const extras = aggregated && (await foldExtras(layout.extras, turn.entries, shared))
    if (!aggregated || !extras) return undefined
    const next = nextState(state, turn.entries, this.#optimizer, aggregated.update, extras.vectors)
    const hash = hashOfState(next.state)
    const agreed = await agreeOnHash(group, hash, meeting, this.#call)
    aggregated.settle?.()
    return { ...next, hash, reports: [...aggregated.reports, ...extras.reports, agreed] }
  }

  #enter(phase: RoundPhase) {
    this.#phase = phase
    this.emit('phase', { round: this.round, phase })
  }
}

function restingTurn(entries: readonly Entry[], hasTurn: boolean): Turn {
  const update = new Float32Array(layoutOf(entries).update.count)
  return {
    hasTurn,
    hasFailed: false,
    samples: 0,
    metrics: {},
    trainSeconds: 0,
    entries,
    update,
    ...measure(update),
  }
}

function measure(update: Float32Array): Pick<Row, 'norm' | 'peak' | 'isFinite'> {
  let square = 0
  let peak = 0
  for (let i = 0; i < update.length; i++) {
    const size = Math.abs(update[i]!)
    square += size * size
    if (size > peak) peak = size
  }
  return { norm: Math.sqrt(square), peak, isFinite: firstNonFinite(update) < 0 }
}
