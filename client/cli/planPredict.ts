/** `papilio plan --predict`: what every candidate costs on a network, and which one a group would choose. */
import { readFileSync, statSync } from 'node:fs'
import { ArgumentError } from '../../shared/base/errors.ts'
import { chooseSchedule } from '../../shared/cost/choose.ts'
import { bytesText, labelOf } from '../../shared/cost/explain.ts'
import type { Choice, NetworkModel } from '../../shared/cost/types.ts'
import type { Collective } from '../../shared/schedule/types.ts'
import { mostNetworkBytes, namedNetwork, networkNames, readNetwork } from './network.ts'
import type { Output } from './output.ts'

export interface PredictRequest {
  /** Default: that of the network file. */
  readonly size: number | undefined
  readonly bytes: number | undefined
  /** A name or a file. */
  readonly network: string | undefined
  readonly consistency: string | undefined
  readonly algorithm: string | undefined
  readonly collective: Collective
  readonly r: string | undefined
  readonly json: boolean
}

export function printPrediction(request: PredictRequest, out: Output): void {
  const { bytes, consistency = 'fast', collective, algorithm, r } = request
  if (bytes === undefined) throw new ArgumentError('bytes', 'Say for how long a vector: --bytes 4194304')
  if (consistency !== 'identical' && consistency !== 'fast')
    throw new ArgumentError('consistency', `--consistency is identical or fast, not "${consistency}"`)
  if (r !== undefined && r !== 'auto' && !/^\d{1,4}$/.test(r))
    throw new ArgumentError('r', `--r takes a whole number or auto, not "${r}"`)
  const model = networkFor(request)
  const { algorithm: _, ...choice } = chooseSchedule(
    {
      size: model.size,
      bytes,
      collective,
      rounds: true,
      commutative: true,
      idempotent: false,
      consistency,
      ...(algorithm !== undefined && { algorithm }),
      ...(r !== undefined && { r: r === 'auto' ? 'auto' : Number(r) }),
    },
    model,
  )
  if (request.json) out.line(JSON.stringify({ size: model.size, bytes, consistency, ...choice }))
  else printChoice(choice, model.size, bytes, out)
}

function networkFor({ size, network }: PredictRequest): NetworkModel {
  if (network === undefined)
    throw new ArgumentError(
      'network',
      `Say on which network: --network FILE, or one of ${networkNames.join(', ')}`,
    )
  if (networkNames.includes(network)) {
    if (size === undefined) throw new ArgumentError('size', 'Say for how many ranks: --size 7')
    return namedNetwork(network, size)!
  }
  const model = readNetwork(readText(network))
  if (size !== undefined && size !== model.size)
    throw new ArgumentError('size', `The network file is for ${model.size} ranks, not ${size}`)
  return model
}

function readText(file: string): string {
  try {
    if (statSync(file).size > mostNetworkBytes)
      throw new ArgumentError('network', `${file} is too large for a network`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof ArgumentError || !(error instanceof Error)) throw error
    throw new ArgumentError('network', `Cannot read the network: ${error.message}`)
  }
}

function printChoice(
  { candidates, chosen, refused, why }: Choice,
  size: number,
  bytes: number,
  out: Output,
): void {
  out.line(`${size} ranks, ${bytesText(bytes)}: ${why}\n`)
  const ms = (seconds: number) => (seconds * 1000).toFixed(3)
  const head = ['ms', 'latency', 'bytes', 'combine', 'steps', 'sent by a rank', 'bits', 'candidate']
  const rows = candidates.map((candidate) => [
    ms(candidate.seconds),
    ms(candidate.parts.alpha),
    ms(candidate.parts.beta),
    ms(candidate.parts.gamma),
    String(candidate.steps),
    bytesText(candidate.bytesSent),
    candidate.identical ? 'same' : 'differ',
    `${labelOf(candidate)}${candidate === chosen ? '  <- chosen' : ''}`,
  ])
  const widths = head.map((text, i) => Math.max(text.length, ...rows.map((row) => row[i]!.length)))
  for (const row of [head, ...rows])
    out.line(row.map((text, i) => (i < head.length - 1 ? text.padStart(widths[i]!) : text)).join('  '))
  if (refused.length === 0) return
  out.line('\nNot in question:')
  const byReason = new Map<string, string[]>()
  for (const candidate of refused) {
    const labels = byReason.get(candidate.reason) ?? []
    byReason.set(candidate.reason, labels)
    labels.push(labelOf(candidate))
  }
  for (const [reason, labels] of byReason) out.line(`  ${labels.join(', ')}: ${reason}`)
}
