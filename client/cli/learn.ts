/** `papilio learn`: peers on Node that train one model together. */
import '@tensorflow/tfjs-backend-cpu'
import '@tensorflow/tfjs-backend-wasm'
import * as tf from '@tensorflow/tfjs-core'
import type { PapilioError } from '../../shared/base/errors.ts'
import { createPrng } from '../../shared/base/prng.ts'
import type { Group } from '../../shared/collective/types.ts'
import type { DataSet } from '../learn/dataSet.ts'
import { decodeDigits } from '../learn/digits.ts'
import type { LearnEvent } from '../learn/events.ts'
import { loadIris } from '../learn/iris.ts'
import { countClasses, divide, type Lesson } from '../learn/lesson.ts'
import { LearnMember } from '../learn/member.ts'
import { digitsFromPackage } from '../learn/packages.ts'
import { foldLearning, initialLearnState, type LearnState, roundsDone } from '../learn/state.ts'
import { createStudent, trainCentrally } from '../learn/student.ts'
import { registerWasmKernels } from '../learn/wasmKernels.ts'
import { exitCodeOf, exitCodes } from './exitCodes.ts'
import { type LearnRequest, learnHelp, readLearnRequest } from './learnRequest.ts'
import { type LearnRoom, openMemoryRoom, openOwnRoom, openRoom } from './learnRoom.ts'
import { type Learned, roundLine, summarize, tableOf } from './learnTable.ts'
import type { Output } from './output.ts'

interface Peer {
  readonly group: Group
  readonly name: string
  readonly member: LearnMember
  state: LearnState
  /** Its lesson has ended, well or not, or it has left. */
  readonly end: Promise<void>
}

/** Resolves with the exit status: fine; wrong when the run failed or the models differ; else why there was none. */
export async function learn(argv: readonly string[], out: Output): Promise<number> {
  try {
    const request = readLearnRequest(argv)
    if (request.help) {
      out.line(learnHelp())
      return 0
    }
    return await run(request, out)
  } catch (error) {
    const status = exitCodeOf(error)
    const { message } = error as PapilioError
    out.error(
      status === exitCodes.usage ? `${message}\npapilio learn --help says what can be asked.` : message,
    )
    return status
  }
}

async function run(request: LearnRequest, out: Output): Promise<number> {
  const { peers: count, lesson: wanted, kill, late, json } = request
  registerWasmKernels()
  tf.enableProdMode()
  await tf.setBackend(request.backend)
  const room = await openRoomOf(request)
  const load = createLoader()
  const begin = performance.now()
  try {
    await load(wanted.data)
    const peers = (await room.join(count)).map((group, i) => createPeer(group, i === 0, load))
    const [first] = peers
    for (const { member } of peers) member.start()
    first!.member.on('event', (event) => tell(event, first!, out))
    const victim = peers.at(-1)!
    if (kill !== undefined) victim.member.on('event', (event) => leaveIn(kill, event, victim, out))
    if (late !== undefined)
      first!.member.on('event', (event) => {
        if (event.kind === 'round' && event.report.round === late) void join(room, peers, load, out)
      })
    const onInterrupt = () => first!.member.stop()
    process.once('SIGINT', onInterrupt)
    if (request.room === undefined || request.start) first!.member.ask(wanted)
    else out.error(`In room ${request.room}: waiting for a lesson to begin.`)
    await first!.end
    await Promise.all(peers.map(({ end }) => end))
    process.off('SIGINT', onInterrupt)
    const seconds = (performance.now() - begin) / 1000
    const lesson = first!.state.run?.lesson ?? wanted
    const data = await load(lesson.data)
    const hands = divide(lesson, data).hands.map(countClasses)
    const central = request.central ? (await trainCentrally(lesson, data, pause)).accuracy : undefined
    const learned = peers.map(({ name, group, state }): Learned => ({ name, peerId: group.peerId, state }))
    const summary = summarize(learned, (place) => hands[place % hands.length]!, seconds, central)
    for (const { member, group } of peers) {
      member.close()
      await group.leave()
    }
    if (!summary) return exitCodes.wrong
    if (json) out.line(JSON.stringify(summary))
    else for (const line of tableOf(summary)) out.line(line)
    return summary.ending !== 'failed' && summary.identical ? exitCodes.fine : exitCodes.wrong
  } finally {
    await room.close()
  }
}

function openRoomOf({ room, url, transport }: LearnRequest): LearnRoom | Promise<LearnRoom> {
  if (room !== undefined) return openRoom(room, url)
  return transport === 'memory' ? openMemoryRoom() : openOwnRoom()
}

type Load = (name: Lesson['data']) => Promise<DataSet>

/** Each data set once for all peers of the process. */
function createLoader(): Load {
  const sets = new Map<string, Promise<DataSet>>()
  return (name) => {
    const set = sets.get(name) ?? (name === 'iris' ? loadIris() : digitsFromPackage().then(decodeDigits))
    sets.set(name, set)
    return set
  }
}

function createPeer(group: Group, evaluates: boolean, load: Load): Peer {
  const member = new LearnMember({
    group,
    prng: createPrng(crypto.getRandomValues(new Uint32Array(1))[0]!),
    evaluates,
    createStudent: async (lesson, place, onProgress) =>
      createStudent({ lesson, place, data: await load(lesson.data), onProgress, pause }),
  })
  const name = group.members[group.rank]?.name ?? `Rank ${group.rank}`
  let settle = () => {}
  const end = new Promise<void>((resolve) => {
    settle = resolve
  })
  const peer: Peer = { group, name, member, end, state: initialLearnState }
  member.on('event', (event) => {
    peer.state = foldLearning(peer.state, event)
    if (peer.state.run?.ending !== undefined || peer.state.groupState === 'left') settle()
  })
  return peer
}

/** Lets the messages of the links in between batches. */
const pause = () => new Promise<void>((resolve) => setImmediate(resolve))

async function join(room: LearnRoom, peers: Peer[], load: Load, out: Output): Promise<void> {
  const [group] = await room.join(1)
  const peer = createPeer(group!, false, load)
  peers.push(peer)
  peer.member.on('event', (event) => {
    if (event.kind === 'synced')
      out.error(`${peer.name} has joined, and got the model after round ${event.round} from ${event.from}.`)
  })
  peer.member.start()
}

/** In the middle of its training: the others find out on their own. */
function leaveIn(round: number, event: LearnEvent, { group, name, state }: Peer, out: Output): void {
  if (event.kind !== 'progress' || event.fraction < 0.25 || group.state === 'left') return
  if (!state.run || roundsDone(state.run) !== round - 1) return
  out.error(`${name} goes away in round ${round}.`)
  void group.leave()
}

function tell(event: LearnEvent, { state }: Peer, out: Output): void {
  switch (event.kind) {
    case 'prepared': {
      if (!state.run) break
      const { lesson, pupils } = state.run
      out.error(
        `${pupils.length} peers, ${lesson.data}, ${lesson.model}, ${event.facts.parameters} parameters, ${lesson.rounds} rounds.`,
      )
      break
    }
    case 'evaluated': {
      const report = state.run?.rounds.find(({ round }) => round === event.round)
      if (report) out.error(roundLine(report, event.evaluation.accuracy))
      break
    }
    case 'training-failed':
      out.error(`The training of this peer failed, which is left out of the round: ${event.message}`)
      break
    case 'failed':
      out.error(event.message)
  }
}
