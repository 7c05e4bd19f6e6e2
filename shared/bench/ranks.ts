/** What the ranks tell each other beside their times: who they are, and what an op did on each of them. */
import * as v from 'valibot'
import type { Clock } from '../base/clock.ts'
import { ProtocolError } from '../base/errors.ts'
import type { TracedOp } from '../collective/trace.ts'
import type { CollectiveOptions, Group, Report, TraceMessage } from '../collective/types.ts'
import type { BenchRank } from './events.ts'

/** Of each rank, as JSON in UTF-8, filled up with spaces: all ranks pass equally many bytes. */
const aboutBytes = 512
const longestAgent = 80
const fieldsOfMessage = 6

const aboutSchema = v.object({
  agent: v.pipe(v.string(), v.maxLength(longestAgent)),
  tick: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  paths: v.record(v.pipe(v.string(), v.maxLength(20)), v.pipe(v.number(), v.integer(), v.minValue(0))),
})

type Own = Pick<BenchRank, 'agent' | 'tick'>

export async function meetRanks(group: Group, { agent, tick }: Own): Promise<BenchRank[]> {
  const paths: Record<string, number> = {}
  for (const { state, path } of group.links()) if (state === 'open') paths[path] = (paths[path] ?? 0) + 1
  const text = JSON.stringify({ agent: agent.slice(0, longestAgent), tick, paths })
  const own = new Uint8Array(aboutBytes).fill(0x20)
  own.set(new TextEncoder().encode(text).subarray(0, aboutBytes))
  const { data } = await group.allgather(own, optionsOf(group))
  const decoder = new TextDecoder()
  return group.members.map(({ name, kind }, rank) => {
    const about = decoder.decode(data.subarray(rank * aboutBytes, (rank + 1) * aboutBytes))
    return { name, kind, ...readAbout(about) }
  })
}

function readAbout(text: string): v.InferOutput<typeof aboutSchema> {
  try {
    return v.parse(aboutSchema, JSON.parse(text))
  } catch (cause) {
    throw new ProtocolError('a rank says of itself what is no description of a rank', { cause })
  }
}

/** The same op as every rank has reported it. All ranks call it. */
export async function shareTrace(
  group: Group,
  ranks: readonly BenchRank[],
  { messages, algorithm, settings, steps }: Report,
): Promise<TracedOp> {
  const own = Float64Array.from(
    messages.flatMap(({ step, direction, peer, bytes, begin, end }) => [
      step,
      direction === 'send' ? 0 : 1,
      peer,
      bytes,
      begin,
      end,
    ]),
  )
  const options = optionsOf(group)
  const counts = [...(await group.allgather(Float64Array.of(own.length), options)).data]
  const { data } = await group.allgather(own, { ...options, counts })
  let at = 0
  return {
    algorithm,
    settings,
    steps,
    ranks: ranks.map(({ name }, rank) => {
      const of = data.subarray(at, at + counts[rank]!)
      at += counts[rank]!
      return { name, messages: unpack(of) }
    }),
  }
}

function unpack(numbers: Float64Array): TraceMessage[] {
  return Array.from({ length: numbers.length / fieldsOfMessage }, (_, i): TraceMessage => {
    const [step, direction, peer, bytes, begin, end] = numbers.subarray(i * fieldsOfMessage) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    return { step, direction: direction === 0 ? 'send' : 'receive', peer, bytes, begin, end }
  })
}

const optionsOf = ({ epoch }: Group): CollectiveOptions => ({ epoch, onPeerLost: 'abort' })

/** The smallest difference that the clock shows, of some: browsers make it coarse on purpose. */
export function tickOf(clock: Clock): number {
  let least = Number.POSITIVE_INFINITY
  let last = clock.now()
  for (let look = 0; look < 100_000 && least > 1e-7; look++) {
    const now = clock.now()
    if (now > last) {
      if (look > 0) least = Math.min(least, now - last)
      last = now
    }
    if (look > 200 && Number.isFinite(least)) break
  }
  return Number.isFinite(least) ? least : 0
}
