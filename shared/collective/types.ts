/** The public interface of a group: what a user of the library sees. */
import type { Events } from '../base/emitter.ts'
import type { PeerName } from '../base/errors.ts'
import type { Choice, NetworkModel } from '../cost/types.ts'
import type { Member, View } from '../membership/types.ts'
import type { Collective, Settings } from '../schedule/types.ts'
import type { LinkStatus } from '../transport/types.ts'
import type { Wire } from '../wire/codec.ts'
import type { DType, NumericArray, VectorArray } from '../wire/dtype.ts'
import type { Feedback } from '../wire/feedback.ts'
import type { Fold } from '../wire/fold.ts'
import type { OperatorName } from '../wire/operator.ts'

/**
 * `identical` (default): every rank ends with the same bits. `fast` admits schedules whose ranks may differ in the last
 * bits of a float result; the report then says so.
 */
export type Consistency = 'identical' | 'fast'

/**
 * What becomes of NaN and infinities in the data of a rank: an error on all ranks, a result without that rank's data, or whatever arithmetic makes of
 * them.
 */
export type NonFinitePolicy = 'error' | 'drop-rank' | 'allow'

export interface CollectiveOptions {
  /** Algorithm name, or `auto` (default): the best of all that the call admits, by the measured network. */
  algorithm?: string
  /** Steps removed (algorithm `butterfly`), or `auto`: the best r of the paper's algorithm. */
  r?: number | 'auto'
  /** Other parameters of the named algorithm: ports, window, group, ... */
  settings?: Settings
  consistency?: Consistency
  /** The op ends with a TimeoutError that names whom it waited for. Default 10 000 ms. */
  timeoutMs?: number
  /** Aborts the op on all ranks. */
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  /**
   * When a member is lost in the op: `continue` (default): the survivors finish it together, with one result and one list
   * of contributors; `abort`: all of them get the same PeerLostError, unless one had finished: then all get its result.
   */
  onPeerLost?: 'continue' | 'abort'
  /**
   * Run among the members of this epoch or not at all: when they have changed, the call takes no number and ends with an EpochError, on
   * all ranks alike. For several calls that belong together.
   */
  epoch?: number
  /** A name that all ranks must agree on: catches two calls that met by mistake. */
  name?: string
}

export interface AllreduceOptions<T extends VectorArray = NumericArray> extends CollectiveOptions {
  /** Default sum. A fold of your own is combined in the order of the ranks unless it says that it is commutative. */
  op?: OperatorName | Fold<T>
  /** The words of a Uint16Array are integers unless this says `f16` or `bf16`. */
  dtype?: DType
  /**
   * Floats may travel in fewer bits: f16, bf16 or q8 (8 bits and a scale per 64 elements). Combined in their own type; the bound of the
   * error is in docs/numbers.md.
   */
  wire?: Wire
  /** What rounding on the wire takes from this call is added to the next one with the same handle. */
  feedback?: Feedback
  /**
   * With op `mean`: the result is sum(weight x) / sum(weight). The number of samples, say: finite and 0 or more, else an ArgumentError on all
   * ranks; when all are 0, a NoSamplesError on all ranks.
   */
  weight?: number
  /**
   * Default allow. Floats only. Each rank looks at what it brings in; all learn of it in the same op, at 4 bytes from each rank to each other. `error`:
   * a NonFiniteError on all ranks, which names ranks and how many values. `drop-rank`: the others' result, `report.dropped` says without whom.
   */
  nonFinite?: NonFinitePolicy
  /** Where the result goes; may be the input itself. Written only when the op has succeeded. */
  into?: T
}

interface Typed<T extends VectorArray> {
  /** The words of a Uint16Array are integers unless this says `f16` or `bf16`. */
  dtype?: DType
  /**
   * As AllreduceOptions.wire. Every rank ends with what has travelled, the sender too. `q8` takes parts of whole blocks of 64 elements where ranks
   * have unlike parts; else an ArgumentError.
   */
  wire?: Wire
  /** Where the result goes; may be the input itself. Written only when the op has succeeded. */
  into?: T
}

interface Rooted {
  /** Rank or peerId of the member that gives or gets. Default rank 0. */
  root?: number | string
}

interface Counted {
  /** Elements of each rank's part, in rank order; the same on all ranks. */
  counts?: readonly number[]
}

interface Combined<T extends VectorArray> {
  /** Default sum. A fold of your own is combined in the order of the ranks unless it says that it is commutative. */
  op?: OperatorName | Fold<T>
  /** As AllreduceOptions.nonFinite. */
  nonFinite?: NonFinitePolicy
  /** As AllreduceOptions.feedback. */
  feedback?: Feedback
}

export interface BroadcastOptions<T extends VectorArray = NumericArray>
  extends CollectiveOptions,
    Typed<T>,
    Rooted {}

export interface ReduceOptions<T extends VectorArray = NumericArray>
  extends CollectiveOptions,
    Typed<T>,
    Rooted,
    Combined<T> {}

export interface ReduceScatterOptions<T extends VectorArray = NumericArray>
  extends CollectiveOptions,
    Typed<T>,
    Counted,
    Combined<T> {}

export interface AllgatherOptions<T extends VectorArray = NumericArray>
  extends CollectiveOptions,
    Typed<T>,
    Counted {}

export interface GatherOptions<T extends VectorArray = NumericArray>
  extends CollectiveOptions,
    Typed<T>,
    Counted,
    Rooted {}

export interface ScatterOptions<T extends VectorArray = NumericArray>
  extends CollectiveOptions,
    Typed<T>,
    Counted,
    Rooted {}

export interface AlltoallOptions<T extends VectorArray = NumericArray> extends CollectiveOptions, Typed<T> {}

/** Who is waited for, and where: sent when nothing has moved for a while. */
export interface Waiting {
  readonly op: number
  readonly step: number
  readonly peers: readonly PeerName[]
  readonly seconds: number
}

export interface Progress {
  readonly op: number
  readonly algorithm: string
  readonly settings: Settings
  /** Steps whose messages have all been sent and received; `steps` in total. Never falls. */
  readonly step: number
  readonly steps: number
  /** Bytes sent and received so far, of `bytesTotal`. Never falls. */
  readonly bytes: number
  readonly bytesTotal: number
  /** 0 .. 1 */
  readonly fraction: number
}

/** One message of this rank, in seconds since the start of the op. */
export interface TraceMessage {
  readonly step: number
  readonly direction: 'send' | 'receive'
  readonly peer: number
  readonly bytes: number
  readonly begin: number
  readonly end: number
}

export interface StepReport {
  readonly step: number
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Seconds since the start of the op at which the first byte moved and the last one was in. */
  readonly begin: number
  readonly end: number
}

export interface Report {
  readonly op: number
  readonly epoch: number
  /** 1, and 1 more for each time that members were lost and the survivors went on. */
  readonly attempts: number
  /** Whose data is in the result, in rank order. */
  readonly contributors: readonly Member[]
  /** Whose data were left out because of NaN or infinities; absent when nobody's were. */
  readonly dropped?: readonly Member[]
  readonly algorithm: string
  readonly settings: Settings
  readonly steps: number
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly seconds: number
  readonly predictedSeconds: number
  /** The schedule guarantees the same bits on every rank for this dtype and operator. */
  readonly identical: boolean
  readonly perStep: readonly StepReport[]
  readonly messages: readonly TraceMessage[]
  /** One sentence: why this algorithm and these settings. */
  readonly why: string
}

export interface Result<T> {
  readonly data: T
  readonly report: Report
}

/** connecting: links are being opened or the epoch agreed. ready: ops run. left: this peer left or was removed. */
export type GroupState = 'connecting' | 'ready' | 'left'

export interface GroupEvents {
  view: View
  state: GroupState
  progress: Progress
  waiting: Waiting
  link: LinkStatus
  report: Report
  /** A new agreed network model. */
  model: NetworkModel
  /** A message of the application from another member (`tell`). */
  message: { from: Member; data: unknown }
}

export interface PlanRequest {
  /** Default allreduce. */
  collective?: Collective
  /** Rank, for collectives with a root. Default 0. */
  root?: number
  /** Elements of the vector that a rank passes. */
  count: number
  /** Default f32. */
  dtype?: DType
  wire?: Wire
  op?: OperatorName
  consistency?: Consistency
  algorithm?: string
  r?: number | 'auto'
  /** Further parameters of the named algorithm. */
  settings?: Settings
}

export type { Choice }

/** The state of the application now, between two calls. */
export type StateProvider = () => Uint8Array | Promise<Uint8Array>

/** What a newcomer gets before its first call. */
export interface ReceivedState {
  readonly data: Uint8Array
  readonly from: Member
  /** The epoch in which this member came in: the state is the one before its first op. */
  readonly epoch: number
  /** Fingerprint that sender and receiver agree on. */
  readonly hash: string
  /** From the beginning of the epoch until it was here. */
  readonly seconds: number
}

export interface Group extends Events<GroupEvents> {
  readonly rank: number
  readonly size: number
  readonly epoch: number
  readonly peerId: string
  /** Of the agreed epoch, in rank order. */
  readonly members: readonly Member[]
  /** Of the newest view, whose newcomers may still be connecting. */
  readonly roster: readonly Member[]
  readonly state: GroupState
  /** Parameters that all ranks agree on. */
  readonly model: NetworkModel
  links(): readonly LinkStatus[]

  /** Every rank gets the fold of every rank's vector. All ranks call it with the same options. */
  allreduce<T extends VectorArray>(data: T, options?: AllreduceOptions<T>): Promise<Result<T>>
  /**
   * Every rank gets the root's vector. The others pass one of the same length and type, whose elements are not read. While the root
   * is there the survivors of a loss finish it.
   */
  broadcast<T extends VectorArray>(data: T, options?: BroadcastOptions<T>): Promise<Result<T>>
  /** The root gets the fold of every rank's vector; the others get undefined. A loss ends it with a PeerLostError. */
  reduce<T extends VectorArray>(data: T, options?: ReduceOptions<T>): Promise<Result<T | undefined>>
  /**
   * Every rank gets its part of the fold of every rank's vector: elements counts[0] + ... + counts[rank - 1] and on, by default floor(rank n / P)
   * .. floor((rank + 1) n / P). A loss ends it with a PeerLostError.
   */
  reduceScatter<T extends VectorArray>(data: T, options?: ReduceScatterOptions<T>): Promise<Result<T>>
  /** Every rank gets every rank's vector, one after the other in rank order. Unlike lengths: `counts`. A loss ends it with a PeerLostError. */
  allgather<T extends VectorArray>(data: T, options?: AllgatherOptions<T>): Promise<Result<T>>
  /** The root gets every rank's vector, one after the other in rank order; the others get undefined. A loss ends it with a PeerLostError. */
  gather<T extends VectorArray>(data: T, options?: GatherOptions<T>): Promise<Result<T | undefined>>
  /**
   * Every rank gets its part of the root's vector, cut as by reduceScatter. The others pass a vector of the same length and type, whose
   * elements are not read. A loss ends it with a PeerLostError.
   */
  scatter<T extends VectorArray>(data: T, options?: ScatterOptions<T>): Promise<Result<T>>
  /** Of P equal blocks, block k goes to rank k; the result has the block from rank k at place k. A loss ends it with a PeerLostError. */
  alltoall<T extends VectorArray>(data: T, options?: AlltoallOptions<T>): Promise<Result<T>>
  /** Ends on every rank after every rank has called it. */
  barrier(options?: CollectiveOptions): Promise<Report>
  /** Measures every link and agrees on a new network model. All ranks call it. */
  measure(): Promise<NetworkModel>

  /** What a call would cost, without running it. */
  predict(request: PlanRequest): Choice

  /** Sends a small JSON value to all other members (or one), in order, outside of any op. */
  tell(data: unknown, to?: string): void

  /**
   * Offers newcomers the state of the application. `provider` is asked when somebody has come in and no call of before is in flight, 50 ms after the
   * last one has ended; it gives the state with all their results in it (or a promise of it). Returns a function that ends the offer.
   */
  offerState(provider: StateProvider): () => void
  /**
   * The state that the first member in rank order offered when this one came in: wait for it before the first call. Undefined: nobody offered one. The
   * others are held up only if they make a call before it is here.
   * @throws {TimeoutError} it did not come within 30 s; {PeerLostError} who had it left, and nobody else has it; {AbortedError} its provider failed
   */
  receiveState(): Promise<ReceivedState | undefined>

  leave(): Promise<void>
}
