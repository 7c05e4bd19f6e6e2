/**
 * What a Chromium is told and tells over the two pipes that it was started with (--remote-debugging-pipe): JSON messages, each ended by a
 * zero byte. No port is open to other programs, and a Chromium whose pipe ends, ends.
 */
import type { Readable, Writable } from 'node:stream'
import * as v from 'valibot'
import { Emitter } from '../../shared/base/emitter.ts'
import { ProtocolError } from '../../shared/base/errors.ts'

const messageSchema = v.union([
  v.object({ id: v.number(), result: v.record(v.string(), v.unknown()) }),
  v.object({ id: v.number(), error: v.object({ message: v.string() }) }),
  v.object({
    method: v.string(),
    params: v.optional(v.record(v.string(), v.unknown()), {}),
    sessionId: v.optional(v.string()),
  }),
])

export interface DevtoolsEvent {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** The tab that it is of, as attached. */
  readonly sessionId?: string | undefined
}

interface Call {
  readonly method: string
  resolve(result: Readonly<Record<string, unknown>>): void
  reject(error: Error): void
}

export class Devtools extends Emitter<{ event: DevtoolsEvent }> {
  readonly #input: Writable
  readonly #calls = new Map<number, Call>()
  #begun: Buffer[] = []
  #last = 0
  #end: Error | undefined

  /** @param input what the browser reads @param output what it writes */
  constructor(input: Writable, output: Readable) {
    super()
    this.#input = input
    input.on('error', (error) => this.end(error))
    output.on('error', (error) => this.end(error))
    output.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  /** @throws ProtocolError that the browser refused it, or what ended the connection */
  call(
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    sessionId?: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    return new Promise((resolve, reject) => {
      if (this.#end) return reject(this.#end)
      const id = ++this.#last
      this.#calls.set(id, { method, resolve, reject })
      this.#input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    })
  }

  /** There is nobody at the other end any more: calls that wait, and all later ones, fail with `reason`. */
  end(reason: Error): void {
    this.#end ??= reason
    for (const { reject } of this.#calls.values()) reject(this.#end)
    this.#calls.clear()
  }

  #take(chunk: Buffer): void {
    let rest = chunk
    for (let zero = rest.indexOf(0); zero >= 0; zero = rest.indexOf(0)) {
      const whole = Buffer.concat([...this.#begun, rest.subarray(0, zero)])
      this.#begun = []
      rest = rest.subarray(zero + 1)
      this.#hear(whole.toString())
    }
    if (rest.length > 0) this.#begun.push(rest)
  }

  #hear(text: string): void {
    const parsed = v.safeParse(messageSchema, JSON.parse(text))
    if (!parsed.success) return
    const message = parsed.output
    if ('method' in message) {
      this.emit('event', message)
      return
    }
    const call = this.#calls.get(message.id)
    this.#calls.delete(message.id)
    if ('result' in message) call?.resolve(message.result)
    else call?.reject(new ProtocolError(`Chromium refuses ${call.method}: ${message.error.message}`))
  }
}
