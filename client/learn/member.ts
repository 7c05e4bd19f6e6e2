/** One member of a group that learns: follows the lessons of the room, runs the rounds, and answers questions. It knows no DOM. */
import { Emitter } from '../../shared/base/emitter.ts'
import { PapilioError } from '../../shared/base/errors.ts'
import type { Prng } from '../../shared/base/prng.ts'
import type { Group, Report } from '../../shared/collective/types.ts'
import { createRounds } from '../../shared/federated/rounds.ts'
import type { Rounds } from '../../shared/federated/roundTypes.ts'
import { createId } from '../session/runSpec.ts'
import type { LearnEvent } from './events.ts'
import { type Lesson, roundOptions } from './lesson.ts'
import { type LearnMessage, parseLearnMessage, type StartMessage } from './messages.ts'
import type { Student } from './student.ts'

export interface LearnMemberConfig {
  readonly group: Group
  readonly prng: Prng
  createStudent(lesson: Lesson, place: number, onProgress: (fraction: number) => void): Promise<Student>
  /** Asks the averaged model for its accuracy after each round: of those who share a processor, one is enough. */
  readonly evaluates: boolean
}

interface Run {
  start: StartMessage
  /** Undefined: it has ended, or has not begun. */
  rounds?: Rounds
  isOver: boolean
}

export class LearnMember extends Emitter<{ event: LearnEvent }> {
  readonly #config: LearnMemberConfig
  readonly #off: (() => void)[]
  #run: Run | undefined
  #next: StartMessage | undefined
  /** A lesson that somebody wants who knew sooner than this member that the run is over. */
  #wanted: { readonly by: string; readonly lesson: Lesson } | undefined
  #student: Student | undefined
  #readyEpoch = -1
  #wantsStop = false
  #isClosed = false
  #bytesTo: Record<string, number> = {}

  constructor(config: LearnMemberConfig) {
    super()
    this.#config = config
    const { group } = config
    this.#off = [
      group.on('message', ({ from, data }) => {
        const message = parseLearnMessage(data)
        if (message) this.#receive(from.peerId, message)
      }),
      group.on('view', () => this.#settle()),
      group.on('state', () => this.#settle()),
      group.on('report', (report) => this.#count(report)),
    ]
  }

  /** Takes part from now on; listeners that were added before miss nothing. */
  start(): void {
    this.#settle()
  }

  /** Asks for a lesson of all who are here. */
  ask(lesson: Lesson): void {
    this.#log({ kind: 'asked', lesson })
    const [leader] = this.#config.group.members
    const after = this.#run?.start.runId
    const message: LearnMessage = { app: 'learn', type: 'ask', lesson, ...(after !== undefined && { after }) }
    if (leader) this.#tell(message, leader.peerId)
  }

  /** Ends the run on all members after the round in progress. */
  stop(): void {
    this.#wantsStop = true
    this.#run?.rounds?.stop()
  }

  /** Asks all members what this is; the answers are events. */
  question(sample: Float32Array): void {
    const questionId = createId(this.#config.prng)
    const rounded = Array.from(sample, (value) => Math.round(value * 255) / 255)
    this.#log({ kind: 'question', questionId, sample: rounded })
    this.#tellAll({ app: 'learn', type: 'question', questionId, sample: rounded })
  }

  /** Takes no part any more; who closes it leaves the group. */
  close(): void {
    this.#isClosed = true
    for (const off of this.#off) off()
    this.#student?.dispose()
    this.#student = undefined
  }

  #settle(): void {
    const { group } = this.#config
    const { state, epoch } = group
    this.#log({ kind: 'group', state, epoch, members: group.roster })
    if (state !== 'ready' || epoch === this.#readyEpoch) return
    this.#readyEpoch = epoch
    this.#greet()
  }

  #greet(to?: string): void {
    const runId = this.#runId
    const hello: LearnMessage = { app: 'learn', type: 'hello', ...(runId !== undefined && { runId }) }
    if (to === undefined) this.#tellAll(hello)
    else this.#tell(hello, to)
  }

  #receive(from: string, message: LearnMessage): void {
    switch (message.type) {
      case 'hello':
        this.#log({ kind: 'present', peerId: from })
        if (this.#isLeader) this.#admit(from, message.runId)
        // It has become rank 0 after this member said hello to the one before.
        else if (this.#isFromLeader(from) && message.runId !== this.#runId) this.#greet(from)
        break
      case 'ask':
        if (!this.#isLeader) break
        if (this.#runId === undefined) this.#lead(from, message.lesson)
        else if (message.after === this.#runId) this.#wanted = { by: from, lesson: message.lesson }
        break
      case 'start':
        if (this.#isFromLeader(from)) this.#follow(message)
        break
      case 'question':
        // Who gets another model in the meantime has no answer.
        this.#answer(from, message.questionId, message.sample).catch(() => undefined)
        break
      case 'answer': {
        const { questionId, opinion } = message
        this.#log({ kind: 'answer', questionId, peerId: from, opinion })
      }
    }
  }

  #isFromLeader(from: string) {
    return this.#config.group.members[0]?.peerId === from
  }

  get #isLeader() {
    return this.#isFromLeader(this.#config.group.peerId)
  }

  /** Of the run that this member is in. */
  get #runId() {
    return this.#run?.isOver === false ? this.#run.start.runId : undefined
  }

  #lead(by: string, lesson: Lesson): void {
    const { group, prng } = this.#config
    const places = group.members.map(({ peerId }) => peerId)
    this.#tellAll({ app: 'learn', type: 'start', runId: createId(prng), by, lesson, places })
  }

  /** Somebody is here who is not in the run: gets the place of one who has left, or a new one. */
  #admit(peerId: string, runId: string | undefined): void {
    const run = this.#run
    if (!run || run.isOver || runId === run.start.runId) return
    const { group } = this.#config
    const places = [...run.start.places]
    if (!places.includes(peerId)) {
      const here = new Set(group.members.map((member) => member.peerId))
      const free = places.findIndex((each) => !here.has(each))
      places[free < 0 ? places.length : free] = peerId
    }
    this.#tellAll({ ...run.start, places })
  }

  #follow(start: StartMessage): void {
    const run = this.#run
    if (run?.start.runId === start.runId) {
      const isNews = start.places.join() !== run.start.places.join()
      run.start = start
      if (isNews) this.#logStart(start)
    } else if (this.#runId !== undefined) this.#next = start
    else void this.#begin(start)
  }

  #logStart({ runId, by, lesson, places }: StartMessage): void {
    const { members } = this.#config.group
    this.#log({ kind: 'started', runId, by, lesson, places, members })
  }

  async #begin(start: StartMessage): Promise<void> {
    const { group, createStudent } = this.#config
    const place = start.places.indexOf(group.peerId)
    // Not yet dealt a place: rank 0 gives one when it hears of this member.
    if (place < 0) return
    const run: Run = { start, isOver: false }
    this.#run = run
    this.#wantsStop = false
    this.#bytesTo = {}
    this.#logStart(start)
    try {
      this.#student?.dispose()
      this.#student = undefined
      const student = await createStudent(start.lesson, place, (fraction) =>
        this.#log({ kind: 'progress', fraction }),
      )
      if (this.#isClosed) return student.dispose()
      this.#student = student
      this.#log({ kind: 'prepared', facts: student.facts })
      await this.#learn(run, student)
    } catch (error) {
      if (this.#isClosed) return
      const code = error instanceof PapilioError ? error.code : 'INTERNAL'
      this.#log({ kind: 'failed', code, message: error instanceof Error ? error.message : String(error) })
      // All others would wait for somebody without a model.
      if (!this.#student) await group.leave()
    } finally {
      run.isOver = true
    }
    const [next, wanted] = [this.#next, this.#wanted]
    this.#next = undefined
    this.#wanted = undefined
    if (this.#isClosed) return
    if (next) await this.#begin(next)
    else if (wanted && this.#isLeader) this.#lead(wanted.by, wanted.lesson)
  }

  async #learn(run: Run, student: Student): Promise<void> {
    const { group, evaluates } = this.#config
    const rounds = createRounds(group, student, roundOptions(run.start.lesson))
    run.rounds = rounds
    let evaluating = Promise.resolve()
    rounds.on('phase', (event) => this.#log({ kind: 'phase', ...event }))
    rounds.on('synced', ({ from, round }) => this.#log({ kind: 'synced', from: from.name, round }))
    rounds.on('trainerError', (error) => this.#log({ kind: 'training-failed', message: String(error) }))
    rounds.on('round', (report) => {
      this.#log({ kind: 'round', report, bytesTo: this.#bytesTo })
      this.#bytesTo = {}
      if (evaluates)
        evaluating = Promise.all([student.evaluate(), evaluating]).then(
          ([evaluation]) => this.#log({ kind: 'evaluated', round: report.round, evaluation }),
          (error: unknown) => this.#log({ kind: 'training-failed', message: String(error) }),
        )
    })
    if (this.#wantsStop) rounds.stop()
    const { ending } = await rounds.run()
    await evaluating
    run.isOver = true
    this.#log({ kind: 'ended', ending })
  }

  async #answer(to: string, questionId: string, sample: readonly number[]): Promise<void> {
    const student = this.#student
    const length = student?.facts.shape.reduce((product, size) => product * size, 1)
    if (!student || sample.length !== length) return
    const opinion = await student.answer(Float32Array.from(sample))
    const { together, alone } = opinion
    if (this.#isClosed) return
    this.#tell(
      { app: 'learn', type: 'answer', questionId, opinion: { together: [...together], alone: [...alone] } },
      to,
    )
  }

  /** Whose messages they were is known by the ranks of those who took part. */
  #count({ messages, contributors }: Report): void {
    for (const { direction, peer, bytes } of messages) {
      const to = contributors[peer]
      if (direction === 'send' && to) this.#bytesTo[to.peerId] = (this.#bytesTo[to.peerId] ?? 0) + bytes
    }
  }

  #tellAll(message: LearnMessage): void {
    const { group } = this.#config
    if (group.size > 1) group.tell(message)
    this.#receive(group.peerId, message)
  }

  #tell(message: LearnMessage, to: string): void {
    const { group } = this.#config
    if (to === group.peerId) this.#receive(to, message)
    else group.tell(message, to)
  }

  #log(event: LearnEvent): void {
    this.emit('event', event)
  }
}
