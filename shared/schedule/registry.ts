import { ArgumentError } from '../base/errors.ts'
import { createAhc } from './ahc.ts'
import { bruckAlltoall, directAlltoall } from './alltoall.ts'
import { binomial, binomialBroadcast, binomialGather, binomialReduce, binomialScatter } from './binomial.ts'
import { bruck, bruckAllgather } from './bruck.ts'
import { butterfly, butterflyAllgather, butterflyReduceScatter } from './butterfly.ts'
import { chain, chainBroadcast, chainReduce } from './chain.ts'
import { directAllgather, directReduceScatter } from './direct.ts'
import { directBarrier, dissemination, disseminationBarrier } from './dissemination.ts'
import { doubleTree } from './doubleTree.ts'
import { hybrid, recursiveDoubling, recursiveHalving } from './doubling.ts'
import { elimination } from './elimination.ts'
import { flatBroadcast, flatGather, flatReduce, flatScatter } from './flat.ts'
import { oneShot, twoShot } from './mesh.ts'
import { nb, nhr } from './named.ts'
import { ports } from './ports.ts'
import { ring, ringAllgather, ringReduceScatter } from './ring.ts'
import { segmentedRing } from './segmentedRing.ts'
import { star } from './star.ts'
import { subgroup } from './subgroup.ts'
import { reduceScatterGather, scatterAllgather, twoShotBroadcast, twoShotReduce } from './twoPhase.ts'
import type { Algorithm, Collective } from './types.ts'
import { window } from './window.ts'

/** Every algorithm: one import and one line each. All suites (proof, values, counts, cost, tuner) run over this list. */
export const algorithms: readonly Algorithm[] = [
  butterfly,
  subgroup,
  ports,
  oneShot,
  twoShot,
  window,
  ring,
  segmentedRing,
  nb,
  nhr,
  bruck,
  dissemination,
  binomial,
  chain,
  doubleTree,
  createAhc(() => algorithms),
  star,
  recursiveDoubling,
  recursiveHalving,
  hybrid,
  elimination,
  butterflyReduceScatter,
  ringReduceScatter,
  directReduceScatter,
  butterflyAllgather,
  ringAllgather,
  bruckAllgather,
  directAllgather,
  binomialReduce,
  reduceScatterGather,
  twoShotReduce,
  chainReduce,
  flatReduce,
  binomialBroadcast,
  scatterAllgather,
  twoShotBroadcast,
  chainBroadcast,
  flatBroadcast,
  binomialGather,
  flatGather,
  binomialScatter,
  flatScatter,
  bruckAlltoall,
  directAlltoall,
  disseminationBarrier,
  directBarrier,
]

/** What stands first among the algorithms of a collective: what a call is planned with that names none. */
export const defaultAlgorithm = (collective: Collective): Algorithm =>
  algorithms.find((algorithm) => algorithm.collective === collective)!

/**
 * The algorithm of that name; of that collective, when several share the name (default: the first in the registry).
 * @throws ArgumentError when there is none; it lists the names that exist.
 */
export function findAlgorithm(name: string, collective?: Collective): Algorithm {
  const candidates = algorithms.filter((a) => collective === undefined || a.collective === collective)
  const found = candidates.find((algorithm) => algorithm.name === name)
  if (found !== undefined) return found
  const names = [...new Set(candidates.map((algorithm) => algorithm.name))].join(', ')
  throw new ArgumentError(
    'algorithm',
    `There is no ${collective === undefined ? '' : `${collective} `}algorithm "${name}". Known: ${names || 'none'}`,
  )
}
