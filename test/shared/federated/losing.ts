/** Five members, one of whom is lost at a message that the seed draws: what survivors come to must not depend on which. */
import { VirtualClock } from '../../../shared/base/clock.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

interface Losing {
  readonly clock: VirtualClock
  readonly groups: readonly Group[]
  readonly survivors: readonly number[]
  /** Of all ranks' runs, what those of the survivors end with. */
  outcome<T>(runs: readonly Promise<T>[]): Promise<T[]>
}

/** The message is among the first `within` of those that are delivered once all are together. */
export async function loseOne(seed: number, within: number): Promise<Losing> {
  const clock = new VirtualClock()
  const random = createPrng(seed)
  const victim = random.below(5)
  let deliveries = 0
  let fatal = Number.POSITIVE_INFINITY
  const room = createMemoryRoom({
    clock,
    seed,
    latency: 0.005,
    jitter: 0.005,
    measure: false,
    onDeliver: () => {
      if (++deliveries === fatal) room.network.kill(`peer-${victim}`)
    },
  })
  const groups = Array.from({ length: 5 }, (_, rank) => room.join(`Rank ${rank}`))
  await inVirtualTime(clock, whenTogether(groups))
  fatal = deliveries + 1 + random.below(within)
  const survivors = groups.flatMap((_, rank) => (rank === victim ? [] : [rank]))
  return {
    clock,
    groups,
    survivors,
    outcome(runs) {
      runs[victim]!.catch(() => {})
      return inVirtualTime(clock, Promise.all(survivors.map((rank) => runs[rank]!)))
    },
  }
}
