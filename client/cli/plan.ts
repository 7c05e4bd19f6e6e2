/** `papilio plan`: prints a schedule, its counts and its proof, or lists all algorithms. */
import { ArgumentError, ScheduleError } from '../../shared/base/errors.ts'
import { buildPart, buildSchedule, completeSettings } from '../../shared/schedule/build.ts'
import { countRank, countSchedule } from '../../shared/schedule/counts.ts'
import { defaultAlgorithm, findAlgorithm } from '../../shared/schedule/registry.ts'
import { FORMAT, serializeSchedule, VERSION } from '../../shared/schedule/serialize.ts'
import { formatPart, formatTimetable } from '../../shared/schedule/timetable.ts'
import type { Algorithm, Counts, ScheduleShape } from '../../shared/schedule/types.ts'
import { type Verification, verifySchedule } from '../../shared/schedule/verify.ts'
import type { Output } from './output.ts'
import { describeAlgorithms, listAlgorithms } from './planList.ts'
import { printPrediction } from './planPredict.ts'
import { help, type PlanRequest, readRequest, readSettings } from './planRequest.ts'

/** A whole schedule beyond these is too much for one JSON text; one rank's part is not. */
const MOST_RANKS = 1024
const MOST_RANK_STEPS = 2 ** 20

/** Resolves with the exit status: 0, 1 (the proof failed) or 2 (wrong use). */
export async function plan(argv: readonly string[], out: Output): Promise<number> {
  try {
    const request = readRequest(argv)
    if (request.help) out.line(help())
    else if (request.list) printList(request, out)
    else if (request.predict) printPrediction(request, out)
    else printPlan(request, out)
    return 0
  } catch (error) {
    if (error instanceof ScheduleError) {
      out.error(error.message)
      return 1
    }
    if (!(error instanceof ArgumentError)) throw error
    out.error(`${error.message}\npapilio plan --help says what can be asked.`)
    return 2
  }
}

function printList({ size, json }: PlanRequest, out: Output): void {
  if (json) out.line(JSON.stringify(describeAlgorithms(size), null, 2))
  else for (const line of listAlgorithms(size)) out.line(line)
}

function printPlan(request: PlanRequest, out: Output): void {
  const { size, rank, json, verify } = request
  if (size === undefined) throw new ArgumentError('size', 'Say for how many ranks: --size 7')
  const algorithm =
    request.algorithm === undefined
      ? defaultAlgorithm(request.collective)
      : findAlgorithm(request.algorithm, request.collective)
  const settings = completeSettings(
    algorithm,
    size,
    readSettings(algorithm.parameters, size, request.settings),
  )
  const shape = algorithm.shape(size, settings)
  const part = rank === undefined ? undefined : buildPart(algorithm, size, settings, rank)
  const isWhole = part === undefined || verify
  if (isWhole && (size > MOST_RANKS || size * shape.steps > MOST_RANK_STEPS))
    throw new ArgumentError(
      'size',
      `${size} ranks with ${shape.steps} steps are too many to print or prove at once; --rank N makes the part of one rank`,
    )
  const schedule = isWhole ? buildSchedule(algorithm, size, settings) : undefined
  const verification =
    verify && schedule
      ? verifySchedule(schedule, { idempotent: algorithm.restrictions.idempotent })
      : undefined
  const proof = verification === undefined ? {} : { verification }

  if (part !== undefined) {
    const rankCounts = countRank(shape, part)
    if (json) {
      out.line(JSON.stringify({ format: FORMAT, version: VERSION, ...shape, part, rankCounts, ...proof }))
      return
    }
    printHead(algorithm, shape, out)
    out.line(
      `Rank ${rank}: ${rankCounts.messages} messages, ${rankCounts.chunksSent} chunks sent, ${rankCounts.chunkCombines} combined, ${rankCounts.peers} peers.`,
    )
    printProof(verification, shape, out)
    out.line(`\n${formatPart(part)}`)
  } else if (schedule !== undefined) {
    const counts = countSchedule(schedule)
    if (json) {
      out.line(JSON.stringify({ ...serializeSchedule(schedule), counts, ...proof }))
      return
    }
    printHead(algorithm, shape, out)
    printCounts(counts, schedule, out)
    printProof(verification, shape, out)
    out.line(`\n${formatTimetable(schedule, schedule.ranks)}`)
    out.line('\n>4:1-3 sends chunks 1 to 3 to rank 4; + combines what came in.')
  }
}

function printHead(algorithm: Algorithm, { size, settings, collective }: ScheduleShape, out: Output): void {
  const set = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  out.line(`${[algorithm.title, collective, `${size} ranks`, ...set].join(', ')}`)
  out.line(`Source: ${algorithm.source}`)
  if (algorithm.baseline) out.line('A baseline to compare with; never chosen by itself.')
  if (collective === 'barrier') return
  out.line(
    algorithm.identical(size, settings)
      ? 'Every rank ends with the same bits.'
      : 'Float results may differ between ranks in the last bits.',
  )
}

function printCounts(counts: Counts, { chunks }: ScheduleShape, out: Output): void {
  out.line(
    `${counts.steps} steps; the busiest rank sends ${counts.chunksSentPerRank} chunks, combines ${counts.chunkCombinesPerRank} and has ${counts.peersPerRank} peers. ${
      chunks === 1 ? 'The vector is one chunk.' : `The vector has ${chunks} chunks.`
    }`,
  )
}

function printProof(
  verification: Verification | undefined,
  { collective }: ScheduleShape,
  out: Output,
): void {
  if (verification === undefined) return
  const { identical, ordered, once } = verification
  if (collective === 'barrier') {
    out.line('Proved: no rank goes on before every rank has come.')
    return
  }
  out.line(
    [
      `Proved: ${once ? 'every contribution exactly once' : 'every contribution, some more than once (idempotent operators only)'}`,
      identical ? 'same bits on all ranks' : 'ranks combine in different orders',
      ordered ? 'operands in rank order' : 'operands not in rank order',
    ].join('; '),
  )
}
