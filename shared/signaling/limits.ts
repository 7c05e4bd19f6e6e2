/** Every limit of the signalling protocol, each with its reason. Server and client share them. */

/** Raised at every incompatible change of signalling, frames or schedules; peers of one room must agree. */
export const protocolVersion = 1

export const limits = {
  /** Shown on phones beside a rank chip. */
  nameLength: 32,
  /** Room codes that people choose themselves; generated ones have the form k7f-2q9. */
  roomLength: 40,
  /** An offer with all candidates is 2 to 4 KB; a candidate 200 B. */
  signalBytes: 16 * 1024,
  /** A reason is one sentence. */
  reasonLength: 200,
  /** Each peer keeps up to P - 1 connections and Chrome allows about 500 in the life of a tab. */
  peersPerRoom: 128,
  /** Epochs travel in frames as 32-bit integers; no room lives through two thousand million changes. */
  epoch: 2 ** 31 - 1,
  /** The largest event is a join that brings a view of 128 members, about 20 KB; then a signal with its wrapping. */
  eventBytes: 64 * 1024,
} as const
