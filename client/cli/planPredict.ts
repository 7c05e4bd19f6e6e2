/** `papilio plan --predict`: what every candidate costs on a network, and which one a group would choose. */
import { readFileSync, statSync } from 'node:fs'
import { ArgumentError } from '../../shared/base/errors.ts'
import { chooseSchedule } from '../../shared/cost/choose.ts'
import { bytesText, labelOf } from '../../shared/cost/explain.ts'
import type { Choice, NetworkModel } from '../../shared/cost/types.ts'
import { algorithms } from '../../shared/schedule/registry.ts'
import type { Algorithm } from '../../shared/schedule/types.ts'
import { mostNetworkBytes, namedNetwork, networkNames, readNetwork } from './network.ts'
import type { Output } from './output.ts'
import { type PlanRequest, readSettings } from './planRequest.ts'

export function printPrediction(request: PlanRequest, out: Output): void {
  // The default is that of the library, so that what is printed is what a group would choose.
  const { bytes, consistency = 'identical', collective, algorithm } = request
  if (bytes === undefined) throw new ArgumentError('bytes', 'Say for how long a vector: --bytes 4194304')
  if (consistency !== 'identical' && consistency !== 'fast')
    throw new ArgumentError('consistency', `--consistency is identical or fast, not "${consistency}"`)
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
      settings: settingsFor(request, model.size),
    },
    model,
  )
  if (request.json) out.line(JSON.stringify({ size: model.size, bytes, consistency, ...choice }))
  else printChoice(choice, model.size, bytes, out)
}

/** What is typed as `auto` is left open. */
function settingsFor({ collective, algorithm, settings }: PlanRequest, size: number) {
  const parameters: Algorithm['parameters'] = algorithms
    .filter((one) => one.collective === collective && (algorithm ?? one.name) === one.name)
    .flatMap((one) => one.parameters)
  const isOpen = ([, value]: readonly [string, string]) => value === 'auto'
  const typed = Object.entries(settings)
  return {
    ...readSettings(parameters, size, Object.fromEntries(typed.filter((entry) => !isOpen(entry)))),
    ...Object.fromEntries(typed.filter(isOpen)),
  }
}

function networkFor({ size, network }: PlanRequest): NetworkModel {
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
