/** The round engine as its users see it: what they give, what they get. */

import type { Clock } from '../base/clock.ts'
import type { Events } from '../base/emitter.ts'
import type { PeerName } from '../base/errors.ts'
import type { Wire } from '../wire/codec.ts'
import type { Aggregation } from './aggregate.ts'
import type { Exclusion, Guard } from './decide.ts'
import type { ServerOptimizer } from './optimizer.ts'
import type { Privacy } from './privacy.ts'
import type { Rate } from './rates.ts'
import type { Secrets } from './secrets.ts'
import type { NamedTensors, Values } from './tensors.ts'

/** What a round asks of this peer's training. */
export interface LocalTask {
  /** From 0. */
  readonly round: number
  readonly epochs: number
  readonly learningRate: number
  /** mu of FedProx: adds mu (w - reference) to the gradient of every trained weight w. 0: FedAvg. */
  readonly proximal: number
  /** The weights that the round began with, by name. Read only. */
  readonly reference: Readonly<Record<string, Values>>
  /** Aborted at the end of the peer's time (`localSeconds`) and at a stop: return with what was done so far. */
  readonly signal: AbortSignal
}

export interface LocalResult {
  /** What the update counts for: samples that it has seen at least once. 0: leave it out. */
  readonly samples: number
  /** Numbers of this peer, such as loss and accuracy, by the names in RoundOptions.metrics. */
  readonly metrics?: Readonly<Record<string, number>>
}

/** This peer's model and its training; the engine knows nothing else of either. */
export interface Trainer {
  /** The tensors as they are now, the same names and shapes on every peer. */
  read(): NamedTensors | Promise<NamedTensors>
  write(tensors: Readonly<Record<string, Values>>): void | Promise<void>
  /** Trains the model in place from where it is. An exception leaves this peer out of the round, not out of the run. */
  train(task: LocalTask): Promise<LocalResult>
}

export interface RoundOptions {
  /** Rounds in all, those before a checkpoint included. */
  readonly rounds: number
  /** Epochs over the local data in each round. Default 1. */
  readonly epochs?: Rate
  /** Of the local training. Default 0.1. */
  readonly learningRate?: Rate
  /** mu of FedProx (Li et al. 2020, eq. 2). Default 0. */
  readonly proximal?: number
  /** Default 'mean': by samples. */
  readonly aggregate?: Aggregation
  /**
   * Updates may travel in fewer bits: f16, bf16 or q8, with error feedback from round to round (docs/numbers.md). With the mean only.
   */
  readonly wire?: Wire
  /** Clip this peer's update and add noise before it leaves. Default: not. */
  readonly privacy?: Privacy
  /** The platform's, for 'secure' and privacy; createRounds of papilio/federated has them. */
  readonly secrets?: Secrets
  /** Default FedAvg: the averaged update is added as it is. */
  readonly optimizer?: ServerOptimizer
  readonly guard?: Guard
  /** Names of the numbers that trainers report, in the order of RoundReport. Default loss and accuracy. */
  readonly metrics?: readonly string[]
  /** Seconds that the training of one round may take on this peer; then it counts with what it has. Default: no limit. */
  readonly localSeconds?: number
  /** Seconds to wait for the slowest peer, then all end with a TimeoutError that names it. Default 120. */
  readonly waitSeconds?: number
  /** Take part in the rounds without training. */
  readonly observe?: boolean
  /** Begin where this one was made: bytes of `checkpoint()`. One peer that has it is enough. */
  readonly checkpoint?: Uint8Array
  readonly clock?: Clock
}

export interface PeerInRound {
  readonly peer: PeerName
  readonly samples: number
  /** Part of the average, 0 .. 1; 0 when it was excluded. Robust aggregations give all the same share. */
  readonly share: number
  readonly excluded?: Exclusion
  /** Euclidean norm of its update; 0 where updates are secret. */
  readonly norm: number
  readonly trainSeconds: number
  readonly metrics: Readonly<Record<string, number>>
}

export interface RoundReport {
  /** Rounds completed, this one included. */
  readonly round: number
  readonly rounds: number
  readonly epoch: number
  /** In rank order. */
  readonly peers: readonly PeerInRound[]
  /** Means over the counted peers that reported the number, by samples. */
  readonly metrics: Readonly<Record<string, number>>
  /** With privacy: epsilon of a peer that has taken part in all rounds so far, for the delta of the options. */
  readonly epsilon?: number
  /** Of the step that the model took. */
  readonly norm: number
  /** Fingerprint of model and optimizer after the round; all members have said that they hold the same. */
  readonly hash: string
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Training, waiting for others, moving data: of this peer. */
  readonly seconds: { readonly train: number; readonly wait: number; readonly exchange: number }
}

export type RoundPhase = 'meeting' | 'syncing' | 'training' | 'waiting' | 'exchanging' | 'ended'

export interface RoundEvents {
  phase: { round: number; phase: RoundPhase }
  round: RoundReport
  /** This peer got model and round from another. */
  synced: { from: PeerName; round: number; bytes: number }
  /** The trainer has thrown; this peer was left out of the round. */
  trainerError: unknown
}

export interface RunSummary {
  readonly rounds: readonly RoundReport[]
  /** All rounds are done, or somebody stopped the run. */
  readonly ending: 'complete' | 'stopped'
}

export interface Rounds extends Events<RoundEvents> {
  /** Rounds completed. */
  readonly round: number
  readonly phase: RoundPhase
  /**
   * Runs until all rounds are done or a peer has stopped the run. All members of the group run it. After an error it may be called again, on all
   * members: it goes on from the last completed round.
   */
  run(): Promise<RunSummary>
  /** Ends the run on all peers after the round in progress, in which this peer counts with what it has trained. */
  stop(): void
  /** Model, round and optimizer after the last completed round. */
  checkpoint(): Uint8Array
}
