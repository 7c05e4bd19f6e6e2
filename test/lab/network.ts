/** What a network of the lab is like, from text such as `rtt=10,rate=50`. */

export interface LabNetwork {
  /** One way between a host and the switch, ms: a round trip between two hosts takes four of them. */
  readonly delay: number
  /** Mbit/s of each host, both ways; 0: unlimited. */
  readonly rate: number
  /** Milliseconds that a port holds back before it drops. */
  readonly queue: number
  /** Percent of the frames that a host sends. */
  readonly loss: number
  /** Mbit/s of one medium for all; 0: a switch. */
  readonly shared: number
}

const defaults: LabNetwork = { delay: 0, rate: 0, queue: 100, loss: 0, shared: 0 }
const keys = ['delay', 'rtt', 'rate', 'queue', 'loss', 'shared']

/**
 * `key=number` pairs with commas between them: `delay` (ms, host to switch) or `rtt` (ms, there and back between two hosts), `rate`, `queue`,
 * `loss`, `shared`.
 *
 * @throws Error that says what was wrong.
 */
export function parseNetwork(text: string): LabNetwork {
  const given = new Map<string, number>()
  for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
    const [key = '', value = '', ...more] = pair.split('=').map((part) => part.trim())
    const number = Number(value)
    if (!keys.includes(key) || more.length > 0)
      throw new Error(`"${pair.trim()}" is none of ${keys.map((name) => `${name}=NUMBER`).join(', ')}.`)
    if (value === '' || !Number.isFinite(number) || number < 0 || number > 100_000)
      throw new Error(`${key} is a number from 0 to 100000, not "${value}".`)
    if (given.has(key)) throw new Error(`${key} is given twice.`)
    given.set(key, number)
  }
  const { rtt, ...settings } = Object.fromEntries(given)
  if (rtt !== undefined && settings.delay !== undefined)
    throw new Error('Give delay or rtt, not both: rtt is four times delay.')
  if ((settings.loss ?? 0) > 100) throw new Error('loss is in percent.')
  return { ...defaults, ...settings, ...(rtt !== undefined && { delay: rtt / 4 }) }
}

/** Milliseconds there and back between two hosts. */
export function roundTrip({ delay }: LabNetwork): number {
  return 4 * delay
}

/** Seconds per byte that the line of a host, or the shared medium, takes; 0: unlimited. */
export function secondsPerByte({ rate, shared }: LabNetwork): number {
  const narrowest = Math.min(rate || Number.POSITIVE_INFINITY, shared || Number.POSITIVE_INFINITY)
  return 8e-6 / narrowest
}

export function describeNetwork(network: LabNetwork): string {
  const { rate, queue, loss, shared } = network
  return [
    `round trip ${roundTrip(network)} ms`,
    rate > 0 ? `${rate} Mbit/s per host` : 'hosts without a limit of rate',
    ...(shared > 0 ? [`one medium of ${shared} Mbit/s`] : []),
    ...(queue === defaults.queue ? [] : [`queues of ${queue} ms`]),
    ...(loss > 0 ? [`${loss} % of frames lost`] : []),
  ].join(', ')
}

/** Options of `lab up`. */
export function networkOptions({ delay, rate, queue, loss, shared }: LabNetwork): string[] {
  const options = { delay, rate, queue, loss, ...(shared > 0 && { shared }) }
  return Object.entries(options).flatMap(([key, value]) => [`--${key}`, String(value)])
}
