/**
 * What the members of a room tell each other about runs. Foreign input: parsed here, once.
 *
 * All members must make the same calls in the same order, so rank 0 leads: it announces each op with `go` when everybody is
 * `done` with the one before, and whoever gets a `go` makes that call. Stopping goes through rank 0 too: then nobody
 * leaves out a call that another has made. When the leader leaves, the next rank 0 gives its last order again, and goes on from the
 * answers; an order that was carried out already is not carried out twice.
 */
import * as v from 'valibot'
import { runSpecSchema } from './runSpec.ts'

const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,40}$/))
const natural = v.pipe(v.number(), v.integer(), v.minValue(0))
const amount = v.pipe(v.number(), v.finite(), v.minValue(0))
const position = natural
/** A control message holds 64 KiB; a traced message takes up to 60 bytes. */
export const maxTrace = 600
const text = (length: number) => v.pipe(v.string(), v.maxLength(length))

const aboutSchema = v.object({
  /** Browser or runtime with its version, for people. */
  agent: text(60),
  /** The tab is hidden: its timers and drawing are throttled. */
  hidden: v.boolean(),
  /** How its open links run, by peerId. */
  paths: v.record(id, v.picklist(['memory', 'direct', 'reflexive', 'relayed', 'unknown'])),
})
export type About = v.InferOutput<typeof aboutSchema>

/** [step, 0 = sent or 1 = received, peer, bytes, begin, end] of one message; seconds since the start of the op. */
const traceSchema = v.array(v.tuple([natural, v.picklist([0, 1]), natural, natural, amount, amount]))

/** What one rank measured and checked for one variant. */
export const rankResultSchema = v.object({
  variant: natural,
  rank: natural,
  algorithm: text(40),
  settings: v.record(text(20), v.union([v.number(), text(40)])),
  steps: natural,
  bytesSent: amount,
  bytesReceived: amount,
  /** peerIds whose data is in the result. */
  contributors: v.pipe(v.array(id), v.maxLength(1024)),
  /** One per measured repeat. */
  seconds: v.pipe(v.array(amount), v.maxLength(100)),
  predictedSeconds: amount,
  /** The schedule guarantees the same bits on every rank. */
  identicalByDesign: v.boolean(),
  why: text(400),
  /** Elements outside the rounding bound, over all repeats. */
  wrong: natural,
  exact: v.boolean(),
  largestError: amount,
  firstWrong: v.optional(v.object({ index: natural, got: v.nullable(v.number()), want: v.number() })),
  /** Of the last repeat's bytes. */
  hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)),
  trace: v.optional(v.pipe(traceSchema, v.maxLength(maxTrace))),
})
export type RankResult = v.InferOutput<typeof rankResultSchema>

const runErrorSchema = v.object({
  code: text(40),
  message: text(500),
  /** The peers that the error is about. */
  peers: v.pipe(v.array(id), v.maxLength(64)),
  step: v.optional(natural),
})
export type RunError = v.InferOutput<typeof runErrorSchema>

const messageSchema = v.variant('type', [
  /** I take part in runs from now on; `answer`: tell me the same of yourself. */
  v.object({ type: v.literal('hello'), about: aboutSchema, answer: v.boolean() }),

  /** To rank 0, or to the leader of the run that goes on. */
  v.object({ type: v.literal('request'), requestId: id, spec: runSpecSchema }),
  v.object({ type: v.literal('measure-request') }),
  v.object({ type: v.literal('stop-request'), runId: id }),
  /** I have made the call announced at `position`; `hash` of the result after a variant's last repeat. */
  v.object({ type: v.literal('done'), runId: id, position, hash: v.optional(text(16)) }),

  /** From it. */
  v.object({ type: v.literal('refused'), requestId: id, reason: text(300) }),
  v.object({
    type: v.literal('start'),
    runId: id,
    requestId: id,
    by: id,
    epoch: natural,
    seed: natural,
    spec: runSpecSchema,
  }),
  /** Make call `index` of the run (`callAt`). */
  v.object({ type: v.literal('go'), runId: id, position, index: natural }),
  /** Find out how far apart the ranks' results of `variant` are. */
  v.object({ type: v.literal('compare'), runId: id, position, variant: natural }),
  v.object({ type: v.literal('measure'), runId: id, position }),
  v.object({ type: v.literal('finish'), runId: id, error: v.optional(runErrorSchema) }),

  /** To all. */
  /** How far the sender is in a long call: steps done, and the fraction of the bytes of the next one. */
  v.object({
    type: v.literal('progress'),
    runId: id,
    step: natural,
    fraction: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  }),
  v.object({ type: v.literal('result'), runId: id, result: rankResultSchema }),
  v.object({ type: v.literal('failed'), runId: id, error: runErrorSchema }),
])
export type RunMessage = v.InferOutput<typeof messageSchema>

/** What all members carry out and answer, one after the other. */
export type Task = Extract<RunMessage, { type: 'start' | 'go' | 'compare' | 'measure' }>

/** Place among the tasks of a run. */
export function positionOf(task: Task): number {
  return task.type === 'start' ? 0 : task.position
}

/** The message, or undefined when it is none of ours or breaks a rule. */
export function parseRunMessage(data: unknown): RunMessage | undefined {
  const parsed = v.safeParse(v.object({ lab: v.literal(1), message: messageSchema }), data)
  return parsed.success ? parsed.output.message : undefined
}

export function packRunMessage(message: RunMessage): unknown {
  return { lab: 1, message }
}
