/**
 * What the members of a lesson tell each other outside of the rounds. Foreign input: parsed here, once.
 *
 * Rank 0 leads: it begins a run when one is asked for, deals the places, and gives newcomers lesson and place. All that it knows has been told to
 * all, so the next rank 0 goes on when it leaves. The rounds themselves have no leader.
 */
import * as v from 'valibot'
import { lessonSchema } from './lesson.ts'

/** Pixels of a drawing, 0 .. 1, in 256 shades. */
const maxSample = 784
const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,40}$/))
const places = v.pipe(v.array(id), v.maxLength(1024))
const probabilities = v.pipe(v.array(v.pipe(v.number(), v.minValue(0), v.maxValue(1))), v.maxLength(100))

const app = v.literal('learn')
const schema = v.variant('type', [
  /** I follow lessons; `runId` is the one that I am in. */
  v.strictObject({ app, type: v.literal('hello'), runId: v.optional(id) }),
  /** To rank 0: begin this, now that the run `after` is over. */
  v.strictObject({ app, type: v.literal('ask'), lesson: lessonSchema, after: v.optional(id) }),
  /** From rank 0: everybody takes part in this; a peer's place says which samples it has. */
  v.strictObject({ app, type: v.literal('start'), runId: id, by: id, lesson: lessonSchema, places }),
  /** What is this? */
  v.strictObject({
    app,
    type: v.literal('question'),
    questionId: id,
    sample: v.pipe(v.array(v.pipe(v.number(), v.finite())), v.maxLength(maxSample)),
  }),
  v.strictObject({
    app,
    type: v.literal('answer'),
    questionId: id,
    opinion: v.strictObject({ together: probabilities, alone: probabilities }),
  }),
])
export type LearnMessage = v.InferOutput<typeof schema>
export type StartMessage = Extract<LearnMessage, { type: 'start' }>

/** Undefined: a message of somebody else, or a broken one. */
export function parseLearnMessage(data: unknown): LearnMessage | undefined {
  const result = v.safeParse(schema, data)
  return result.success ? result.output : undefined
}
