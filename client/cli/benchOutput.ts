/** Where the events of a benchmark go: the chosen format to standard output, the files, progress to standard error; and what it all amounts to. */
import { existsSync, writeFileSync } from 'node:fs'
import { createCsv } from '../../shared/bench/csv.ts'
import type { BenchEvent } from '../../shared/bench/events.ts'
import { type BenchFormat, isFastEnough } from '../../shared/bench/format.ts'
import { createNcclTable } from '../../shared/bench/ncclTable.ts'
import { createOsuTable } from '../../shared/bench/osuTable.ts'
import { createJson, createJsonLines, type ResultOptions } from '../../shared/bench/result.ts'
import { createTally } from '../../shared/bench/run.ts'
import { traceOf } from '../../shared/collective/trace.ts'
import type { BenchCommand } from './benchRequest.ts'
import { exitCodeOf, exitCodes } from './exitCodes.ts'
import type { Output } from './output.ts'

export interface OutputParts {
  readonly out: Output
  /** Where a line can be written over; absent: nowhere. */
  readonly progress?: ((text: string) => void) | undefined
  /** Standard output is a terminal that shows colours. */
  readonly hasColor: boolean
  readonly version: string
  readonly argv: readonly string[]
  now(): Date
}

export interface BenchOutput {
  tell(event: BenchEvent): void
  /** Writes what is left; the exit status. */
  finish(error?: unknown): number
}

export function createBenchOutput(command: BenchCommand, parts: OutputParts): BenchOutput {
  const { outputFile, traceFile, minBandwidth, isQuiet } = command
  const { out, progress, hasColor, version, argv } = parts
  const result: ResultOptions = { version, minBandwidth, args: argv, now: () => parts.now().toISOString() }
  const shown = formatOf(command, result, parts)
  const filed =
    outputFile === undefined ? undefined : { format: createJson(result), path: freeName(outputFile) }
  const tally = createTally()
  const status = (text: string) => {
    if (!isQuiet) progress?.(`\r\u001b[K${text}`)
  }
  let traces = 0
  return {
    tell(event) {
      if (event.kind === 'progress') {
        const { bytes, done, total, sizesDone, sizes } = event
        status(`size ${sizesDone + 1} of ${sizes}: ${bytes} bytes, iteration ${done} of ${total}`)
      } else status('')
      if (event.kind === 'row') tally.add(event.row)
      const isWrong =
        event.kind === 'row' &&
        [event.row.outOfPlace, event.row.inPlace].some((sample) => (sample?.wrong ?? 0) > 0)
      const isRed = isWrong && command.hasColor && hasColor
      for (const line of shown.tell(event)) out.line(isRed ? `\u001b[31m${line}\u001b[39m` : line)
      filed?.format.tell(event)
      if (event.kind === 'trace' && traceFile !== undefined) {
        const path = traces++ === 0 ? traceFile : labelled(traceFile, event.label)
        const trace = traceOf(event.op, { bytes: event.bytes, version })
        writeFileSync(path, `${JSON.stringify(trace)}\n`)
        out.error(`Trace of ${event.label}: ${path}`)
      }
    },
    finish(error) {
      status('')
      const errors = error === undefined ? [] : [error instanceof Error ? error.message : String(error)]
      for (const line of shown.finish(errors)) out.line(line)
      if (filed) {
        writeFileSync(filed.path, `${filed.format.finish(errors).join('\n')}\n`)
        out.error(`Result: ${filed.path}`)
      }
      for (const message of errors) out.error(message)
      const { wrong, averageBusbw } = tally.end()
      if (error !== undefined) return exitCodeOf(error)
      return wrong > 0 || !isFastEnough(averageBusbw, minBandwidth) ? exitCodes.wrong : exitCodes.fine
    },
  }
}

function formatOf(command: BenchCommand, result: ResultOptions, { now }: OutputParts): BenchFormat {
  const { format, unit, isPlain, hasTimestamps } = command
  switch (format) {
    case 'nccl':
      return createNcclTable({
        ...result,
        unit,
        isPlain,
        ...(hasTimestamps && { stamp: () => now().toISOString().slice(11, 19) }),
      })
    case 'osu':
      return createOsuTable(result)
    case 'csv':
      return createCsv()
    case 'json':
      return createJson(result)
    case 'jsonl':
      return createJsonLines(result, () => now().getTime() / 1000)
  }
}

/** As nccl-tests: what is there is kept, the new one is called name.0, name.1 ... */
function freeName(path: string): string {
  if (!existsSync(path)) return path
  for (let number = 0; ; number++) if (!existsSync(`${path}.${number}`)) return `${path}.${number}`
}

/** trace.json, ring r=1: trace.ring-r-1.json */
function labelled(path: string, label: string): string {
  const word = label.replaceAll(/[^a-z0-9]+/gi, '-')
  const dot = path.lastIndexOf('.')
  return dot > path.lastIndexOf('/') + 1
    ? `${path.slice(0, dot)}.${word}${path.slice(dot)}`
    : `${path}.${word}`
}
