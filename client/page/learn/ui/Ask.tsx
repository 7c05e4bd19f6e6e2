/** A question to all models: a digit that somebody draws, or a sample that nobody has trained on. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Opinion } from '../../../learn/student.ts'
import { RankChip } from '../../ui/RankChip.tsx'
import { digitOf, type Ink } from '../drawing.ts'
import { hueOf } from '../shown.ts'
import { useLearn } from '../store.ts'
import { DrawingPad } from './DrawingPad.tsx'

export function Ask(): JSX.Element {
  const { room, lesson, run, classes, trainer } = useLearn()
  const { data } = lesson.value
  const [shown, setShown] = useState<{ sample: Float32Array; label?: string }>()
  const asked = useRef(new Map<number, number>())
  const canAsk = run.value?.facts !== undefined
  const ask = (sample: Float32Array, label?: string) => {
    setShown({ sample, ...(label !== undefined && { label }) })
    room.ask(sample)
  }
  const onInk = (ink: Ink) => {
    const sample = digitOf(ink)
    if (sample) ask(sample)
  }
  const takeExample = async (label: number) => {
    const index = asked.current.get(label) ?? 0
    asked.current.set(label, index + 1)
    const example = await trainer.example(lesson.value, label, index)
    ask(example.sample, classes.value[label])
  }
  return (
    <section class="panel ask" aria-labelledby="ask-title">
      <h2 id="ask-title" class="panel-title">
        Ask the models
      </h2>
      {!canAsk && <p class="note">Once they train, every peer answers: by the averaged model, and alone.</p>}
      {data === 'digits' && <DrawingPad disabled={!canAsk} sample={shown?.sample} onInk={onInk} />}
      <fieldset class="field examples" disabled={!canAsk}>
        <legend>
          {data === 'digits'
            ? 'Or take one that nobody has trained on'
            : 'Take a flower that nobody has trained on'}
        </legend>
        <div class="example-buttons">
          {classes.value.map((name, label) => (
            <button
              key={name}
              type="button"
              class="button small"
              data-testid={`example-${label}`}
              aria-label={`Example of ${name}`}
              onClick={() => void takeExample(label)}
            >
              {name}
            </button>
          ))}
        </div>
      </fieldset>
      {canAsk && shown && <Answers label={shown.label} />}
      <p class="note">What you ask goes to all peers, so that they can answer.</p>
    </section>
  )
}

const bestOf = (probabilities: readonly number[]) => probabilities.indexOf(Math.max(...probabilities))

function Answers({ label }: { label: string | undefined }): JSX.Element | null {
  const { state, classes, run } = useLearn()
  const { members, question } = state.value.learning
  if (!question) return null
  const answers = members.flatMap(({ peerId, name }, rank) => {
    const opinion = question.opinions.get(peerId)
    return opinion ? [{ peerId, name, rank, opinion }] : []
  })
  const [first] = answers
  return (
    <div
      class="answers"
      data-wide={classes.value.some((name) => name.length > 2)}
      data-testid="answers"
      data-count={answers.length}
    >
      {label !== undefined && (
        <p>
          It is a <strong>{label}</strong>.
        </p>
      )}
      {first ? (
        <Answer
          title="Together"
          testId="answer-together"
          probabilities={first.opinion.together}
          classes={classes.value}
          label={label}
        />
      ) : (
        <p class="note">The peers are thinking.</p>
      )}
      {answers.length > 0 && <h3>Alone</h3>}
      {answers.map(({ peerId, name, rank, opinion }) => (
        <AloneAnswer
          key={peerId}
          name={name}
          rank={rank}
          hue={hueOf(run.value, peerId, rank)}
          opinion={opinion}
          isSame={sameTogether(opinion, first?.opinion)}
          classes={classes.value}
          label={label}
        />
      ))}
    </div>
  )
}

/** All averaged models are the same bits; what they say on different processors may differ in the last digits. */
function sameTogether(opinion: Opinion, other: Opinion | undefined): boolean {
  return other?.together.every((value, i) => Math.abs(value - (opinion.together[i] ?? 0)) < 1e-3) ?? true
}

function AloneAnswer(props: {
  name: string
  rank: number
  hue: number
  opinion: Opinion
  isSame: boolean
  classes: readonly string[]
  label: string | undefined
}): JSX.Element {
  const { name, rank, hue, opinion, isSame, classes, label } = props
  return (
    <Answer
      title={name}
      chip={<RankChip rank={rank} hue={hue} />}
      testId="answer-alone"
      hue={hue}
      probabilities={opinion.alone}
      classes={classes}
      label={label}
      note={
        isSame ? undefined : `together it says ${classes[bestOf(opinion.together)]}: it is in another round`
      }
    />
  )
}

function Answer(props: {
  title: string
  testId: string
  chip?: JSX.Element
  hue?: number
  probabilities: readonly number[]
  classes: readonly string[]
  label: string | undefined
  note?: string | undefined
}): JSX.Element {
  const { title, testId, chip, hue, probabilities, classes, label, note } = props
  const best = bestOf(probabilities)
  const said = classes[best] ?? String(best)
  const sure = `${Math.round(100 * (probabilities[best] ?? 0))} %`
  const isRight = label === undefined ? undefined : label === said
  return (
    <div
      class={hue === undefined ? 'answer answer-main' : 'answer'}
      data-testid={testId}
      data-said={said}
      data-right={isRight}
    >
      <p class="answer-line">
        {chip} <span class="answer-name">{title}</span>
        <span class={isRight === false ? 'answer-said wrong' : 'answer-said'}>
          <strong>{said}</strong> {sure}
          {isRight === false && <span class="heard">, which is wrong</span>}
        </span>
      </p>
      <Bars probabilities={probabilities} classes={classes} hue={hue} best={best} />
      {note && <p class="note">{note}</p>}
    </div>
  )
}

/** One bar for each class, its name below. */
function Bars(props: {
  probabilities: readonly number[]
  classes: readonly string[]
  hue: number | undefined
  best: number
}): JSX.Element {
  const { probabilities, classes, hue, best } = props
  const fill = hue === undefined ? 'var(--ink)' : `var(--rank-${hue % 8})`
  const summary = probabilities
    .map((value, i) => [classes[i], Math.round(100 * value)] as const)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${name} ${value} %`)
    .join(', ')
  return (
    <div class="bars" role="img" aria-label={summary} style={{ '--classes': probabilities.length }}>
      {probabilities.map((value, i) => (
        <span class="bar" key={classes[i] ?? i} data-best={i === best}>
          <span class="bar-box">
            <span class="bar-fill" style={{ height: `${100 * value}%`, background: fill }} />
          </span>
          <span class="bar-name">{classes[i]}</span>
        </span>
      ))}
    </div>
  )
}
