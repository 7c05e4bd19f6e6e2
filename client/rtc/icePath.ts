import type { LinkPath } from '../../shared/transport/types.ts'

export type RtcPath = Exclude<LinkPath, 'memory'>

/** The fields of RTCStats that matter here. */
export interface Stat {
  readonly id: string
  readonly type: string
  readonly selectedCandidatePairId?: string
  readonly selected?: boolean
  readonly nominated?: boolean
  readonly state?: string
  readonly localCandidateId?: string
  readonly remoteCandidateId?: string
  readonly candidateType?: string
  readonly address?: string
  readonly ip?: string
}

/**
 * How two peers reach each other, from the statistics of their connection: through a relay, over an address that a
 * translating router gave them, or directly. On a LAN the address that a STUN server reports is the host's own, so a
 * private address counts as direct whatever its candidate is called.
 */
export function pathOf(stats: Iterable<Stat>): RtcPath {
  const byId = new Map<string, Stat>()
  for (const stat of stats) byId.set(stat.id, stat)
  const all = [...byId.values()]
  const chosen = all.find(
    ({ type, selectedCandidatePairId }) => type === 'transport' && selectedCandidatePairId,
  )
  const pair =
    byId.get(chosen?.selectedCandidatePairId ?? '') ??
    all.find(
      ({ type, selected, nominated, state }) =>
        type === 'candidate-pair' && (selected || (nominated && state === 'succeeded')),
    )
  const ends = [byId.get(pair?.localCandidateId ?? ''), byId.get(pair?.remoteCandidateId ?? '')]
  if (ends.some((end) => !end)) return 'unknown'
  if (ends.some((end) => end?.candidateType === 'relay')) return 'relayed'
  return ends.every(isOwnAddress) ? 'direct' : 'reflexive'
}

function isOwnAddress(end: Stat | undefined): boolean {
  // A browser that hides the address of a host also hides it when it is learned on the way.
  const address = end?.address ?? end?.ip ?? ''
  return end?.candidateType === 'host' || address === '' || isPrivate(address)
}

/**
 * Addresses that mean nothing outside one network (RFC 1918, 3927, 4193, 4291; 5737 and 3849 for examples and labs), and
 * names that hide one.
 */
function isPrivate(address: string): boolean {
  return (
    /^(10|127|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254|192\.0\.2|198\.51\.100|203\.0\.113)\./.test(
      address,
    ) ||
    /^(::1$|f[cd]|fe[89ab]|2001:db8:)/i.test(address) ||
    address.endsWith('.local')
  )
}
