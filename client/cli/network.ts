/**
 * Networks as files: what `papilio plan --predict --network FILE` reads (docs/cost-model.md, "A network as a file"),
 * and the scenarios that have names.
 */
import * as v from 'valibot'
import { ArgumentError } from '../../shared/base/errors.ts'
import { curveThrough } from '../../shared/cost/curve.ts'
import { guessModel, probeSizes } from '../../shared/cost/fit.ts'
import { classroom, internet, loopback, modelOf } from '../../shared/cost/scenarios.ts'
import type { LinkCurve, NetworkModel } from '../../shared/cost/types.ts'

/** Larger files are no networks. */
export const mostNetworkBytes = 16 * 1024 * 1024
const mostRanks = 1024

const seconds = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(1e6))
const byteCount = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(2 ** 50))
const host = { gamma: seconds, overhead: seconds, hostBeta: seconds }

const lineSchema = v.strictObject({ alpha: v.pipe(seconds, v.gtValue(0)), beta: seconds })
const curveSchema = v.object({
  points: v.pipe(
    v.array(v.object({ bytes: byteCount, seconds: v.pipe(seconds, v.gtValue(0)) })),
    v.minLength(1),
    v.maxLength(256),
    v.check(
      (points) => points.every(({ bytes }, i) => i === 0 || bytes > points[i - 1]!.bytes),
      'points ascend in bytes',
    ),
  ),
  tail: v.optional(seconds),
})
const linkSchema = v.union(
  [lineSchema, curveSchema],
  'a link is {alpha, beta} or {points: [{bytes, seconds}, ...]}',
)

const networkSchema = v.pipe(
  v.object({
    size: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(mostRanks)),
    version: v.optional(v.number(), 1),
    /** Every link that `links` does not have. */
    link: v.optional(linkSchema),
    links: v.optional(v.array(v.array(v.nullable(linkSchema)))),
    ...v.partial(v.object(host)).entries,
    hosts: v.optional(v.array(v.object(host))),
    sharedBeta: v.optional(seconds, 0),
    sharedOverhead: v.optional(seconds, 0),
  }),
  v.check(({ link, links }) => link !== undefined || links !== undefined, 'there is neither link nor links'),
  v.check(
    ({ size, links }) => !links || (links.length === size && links.every((row) => row.length === size)),
    'links has one row per rank, with one entry per rank',
  ),
  v.check(({ size, hosts }) => !hosts || hosts.length === size, 'hosts has one entry per rank'),
)

const named: Readonly<Record<string, (size: number) => NetworkModel>> = {
  guess: guessModel,
  loopback: (size) => modelOf(loopback(size)),
  classroom: (size) => modelOf(classroom(size)),
  internet: (size) => modelOf(internet(size)),
}

/** Names that need no file. */
export const networkNames = Object.keys(named)

export function namedNetwork(name: string, size: number): NetworkModel | undefined {
  return named[name]?.(size)
}

/** @throws ArgumentError that says what is wrong with the file */
export function readNetwork(text: string): NetworkModel {
  const parsed = v.safeParse(networkSchema, parseJson(text))
  if (!parsed.success) {
    const [issue] = parsed.issues
    const path = v.getDotPath(issue)
    throw new ArgumentError(
      'network',
      `The network file is not one${path ? ` at ${path}` : ''}: ${issue.message}`,
    )
  }
  const { size, version, link, links, hosts, sharedBeta, sharedOverhead, ...given } = parsed.output
  const guess = guessModel(2)
  const ranks = Array.from({ length: size }, (_, rank) => rank)
  const usual = link && curveOf(link)
  const worst = (name: keyof typeof host) => hosts && Math.max(...hosts.map((one) => one[name]))
  return {
    version,
    size,
    links: ranks.map((from) =>
      ranks.map((to) => {
        const own = links?.[from]?.[to]
        return from === to ? undefined : own ? curveOf(own) : usual
      }),
    ),
    ...(hosts && { hosts }),
    gamma: given.gamma ?? worst('gamma') ?? guess.gamma,
    overhead: given.overhead ?? worst('overhead') ?? guess.overhead,
    hostBeta: given.hostBeta ?? worst('hostBeta') ?? (link && 'beta' in link ? link.beta : guess.hostBeta),
    sharedBeta,
    sharedOverhead,
  }
}

function curveOf(link: v.InferOutput<typeof linkSchema>): LinkCurve {
  if ('points' in link) {
    const { points, tail } = link
    return { ...curveThrough(points, 1), ...(tail !== undefined && { tail }) }
  }
  const { alpha, beta } = link
  return curveThrough(
    probeSizes.map((bytes) => ({ bytes, seconds: alpha + beta * bytes })),
    1,
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ArgumentError(
      'network',
      `The network file is not JSON: ${error instanceof Error ? error.message : error}`,
    )
  }
}
