/** Each state of the page of a lesson as icon, word and sentence. */
import { type LearnRun, outcomeOf, roundsDone } from '../../learn/state.ts'
import { formatCount, list } from '../format.ts'
import { absent, type PageState, type PageWord, pageWordOf } from '../learn/pageState.ts'
import { plural } from '../stage/format.ts'
import type { StatusIcon } from './status.ts'

export interface LearnStatus {
  readonly icon: StatusIcon
  readonly word: string
  readonly sentence: string
}

const words: Readonly<Record<PageWord, { icon: StatusIcon; word: string }>> = {
  connecting: { icon: 'link', word: 'Connecting' },
  empty: { icon: 'here', word: 'Alone' },
  waiting: { icon: 'wait', word: 'Waiting' },
  ready: { icon: 'ok', word: 'Ready' },
  preparing: { icon: 'wait', word: 'Preparing' },
  training: { icon: 'run', word: 'Training' },
  finished: { icon: 'ok', word: 'Finished' },
  stopped: { icon: 'warn', word: 'Stopped' },
  failed: { icon: 'bad', word: 'Failed' },
  refused: { icon: 'bad', word: 'Outside' },
  left: { icon: 'here', word: 'Left' },
}

export function learnStatusOf(state: PageState): LearnStatus {
  const word = pageWordOf(state)
  return { ...words[word], sentence: sentenceOf(state, word) }
}

function sentenceOf(state: PageState, word: PageWord): string {
  const { learning, expected, problem } = state
  const { members, run } = learning
  switch (word) {
    case 'connecting':
      return connectingSentence(state)
    case 'empty':
      return 'You are the first here. Train with four more peers inside this page, or open the link on other devices first.'
    case 'waiting':
      return `${members.length} of ${expected} peers are here.`
    case 'ready':
      return `${members.length} peers are here and linked.`
    case 'preparing':
      return 'Every peer takes its samples and builds the same model.'
    case 'training':
      return run ? trainingSentence(run) : ''
    case 'finished':
    case 'stopped':
      return run ? `${outcomeSentence(run)}${changesSentence(run)}` : ''
    case 'failed':
      return run?.error?.message ?? ''
    case 'refused':
      return problem?.message ?? 'This page is in no room.'
    case 'left':
      return 'This page has left the room; the others go on without it.'
  }
}

function connectingSentence(state: PageState): string {
  if (state.place !== 'joined') return 'Asking the server for a place in the room.'
  if (state.learning.groupState !== 'ready') return 'The links between the peers are being opened.'
  const silent = absent(state)
  return `${list(silent)} ${silent.length === 1 ? 'is' : 'are'} linked, but not on the page for learning (yet).`
}

const percent = (value: number) => `${(100 * value).toFixed(1)} %`

function trainingSentence(run: LearnRun): string {
  const { lesson, phase } = run
  const round = Math.min(lesson.rounds, roundsDone(run) + 1)
  const { averaged } = outcomeOf(run)
  const now =
    phase === 'training'
      ? 'every peer trains on its own samples'
      : phase === 'exchanging'
        ? 'the models are averaged'
        : phase === 'syncing'
          ? 'somebody who came late gets the model'
          : 'waiting for those who still train'
  const so = averaged === undefined ? '' : ` Together they are right on ${percent(averaged)}.`
  return `Round ${round} of ${lesson.rounds}: ${now}.${so}${changesSentence(run)}`
}

function outcomeSentence(run: LearnRun): string {
  const { averaged, alone } = outcomeOf(run)
  const done = roundsDone(run)
  const where =
    run.ending === 'complete' ? `After ${done} rounds` : `Stopped after round ${done} of ${run.lesson.rounds}`
  if (averaged === undefined || alone === undefined) return `${where}.`
  const here = run.pupils.filter(({ leftAfter }) => leftAfter === undefined).length
  return `${where}: right on ${percent(averaged)} together, ${percent(alone)} alone. All ${here} peers hold the same model, bit for bit.`
}

/** Who came and went since it began. */
function changesSentence({ pupils, synced }: LearnRun): string {
  const gone = pupils.filter(({ leftAfter }) => leftAfter !== undefined).map(({ name }) => name)
  const late = pupils
    .filter(({ since, leftAfter }) => since > 0 && leftAfter === undefined)
    .map(({ name }) => name)
  return [
    synced && synced.round > 0
      ? ` This page came late, and got the model after round ${synced.round} from ${synced.from}.`
      : '',
    gone.length > 0 ? ` ${list(gone)} left; the others went on.` : '',
    late.length > 0 ? ` ${list(late)} joined late, and got the model first.` : '',
  ].join('')
}

/** What leaves this tab, and what does not. */
export function privacySentence(run: LearnRun | undefined, samples: number | undefined): string {
  const own =
    samples === undefined ? 'The samples' : `The ${formatCount(samples)} samples of this page's peers`
  const weights = run?.facts
    ? `Sent are ${formatCount(run.facts.parameters)} weights a round, as changes, and ${plural(4, 'number')} about how well they do`
    : 'Sent are the weights of the model, as changes, and how well it does'
  return `${own} stay in this tab. ${weights}, straight to the other peers; the server sees none of it.`
}
