/** What the package offers everywhere beside `join`. */
export {
  AbortedError,
  ArgumentError,
  EpochError,
  type ErrorCode,
  JoinError,
  LinkError,
  MismatchError,
  NonFiniteError,
  NoSamplesError,
  PapilioError,
  PeerLostError,
  type PeerName,
  ProtocolError,
  ScheduleError,
  TimeoutError,
  UnsupportedError,
} from '../shared/base/errors.ts'
export { createMemoryGroup, type MemoryGroupOptions } from '../shared/collective/memoryGroup.ts'
export type {
  AllgatherOptions,
  AllreduceOptions,
  AlltoallOptions,
  BroadcastOptions,
  Choice,
  CollectiveOptions,
  Consistency,
  GatherOptions,
  Group,
  GroupEvents,
  GroupState,
  NonFinitePolicy,
  PlanRequest,
  Progress,
  ReceivedState,
  ReduceOptions,
  ReduceScatterOptions,
  Report,
  Result,
  ScatterOptions,
  StateProvider,
  StepReport,
  TraceMessage,
  Waiting,
} from '../shared/collective/types.ts'
export { plan, predict, type SizedRequest, verify } from '../shared/collective/withoutGroup.ts'
export type { NetworkModel, Prediction } from '../shared/cost/types.ts'
export type { Member, View } from '../shared/membership/types.ts'
export type { Schedule, Settings } from '../shared/schedule/types.ts'
export type { Verification, VerifyOptions } from '../shared/schedule/verify.ts'
export type { LinkPath, LinkState, LinkStatus } from '../shared/transport/types.ts'
export type { Wire } from '../shared/wire/codec.ts'
export type { DType, NumericArray, VectorArray } from '../shared/wire/dtype.ts'
export { createFeedback, type Feedback } from '../shared/wire/feedback.ts'
export type { ElementFold, Fold, SegmentFold } from '../shared/wire/fold.ts'
export type { OperatorName } from '../shared/wire/operator.ts'
export type { JoinedGroup, JoinOptions, JoinStatus } from './rtc/join.ts'
export type { ServerState } from './rtc/seat.ts'
export { createSeatStore, type SeatStore } from './rtc/seatStore.ts'
