/** What is learned, and the buttons that begin, stop and leave. */
import type { JSX } from 'preact'
import { roundsDone } from '../../../learn/state.ts'
import { Choice } from '../../ui/Choice.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { absent, isLearningNow } from '../pageState.ts'
import { companions, useLearn } from '../store.ts'

const skewWords = (skew: number) =>
  skew === 0
    ? 'everybody has all classes alike (IID)'
    : skew === 1
      ? 'everybody has a few classes only'
      : `${Math.round(100 * skew)} % of the samples go by their label`

export function LessonForm(): JSX.Element {
  const { settings, lesson, state, change } = useLearn()
  const isOn = isLearningNow(state.value)
  const shown = isOn ? lesson.value : settings.value
  const isDigits = shown.data === 'digits'
  return (
    <section class="lesson" aria-label="Lesson">
      <div class="lesson-fields">
        <Choice
          name="data"
          legend="Learn"
          testId="data"
          value={shown.data}
          disabled={isOn}
          options={[
            { value: 'digits', label: 'digits', testId: 'data-digits', title: '10 000 handwritten digits' },
            { value: 'iris', label: 'iris', testId: 'data-iris', title: '150 flowers: done in seconds' },
          ]}
          onChange={(data) => change({ data })}
        />
        <Choice
          name="model"
          legend="Model"
          testId="model"
          value={shown.model}
          disabled={isOn}
          options={[
            { value: 'mlp', label: 'MLP', testId: 'model-mlp', title: 'One hidden layer' },
            {
              value: 'cnn',
              label: 'CNN',
              testId: 'model-cnn',
              title: isDigits
                ? 'Two convolutions: better, and several times slower'
                : 'A convolution needs pictures',
              disabled: !isDigits,
            },
          ]}
          onChange={(model) => change({ model })}
        />
        <label class="field lesson-rounds">
          <span>Rounds</span>
          <input
            type="number"
            data-testid="rounds"
            min={1}
            max={1000}
            disabled={isOn}
            value={shown.rounds}
            onInput={(event) => {
              const rounds = event.currentTarget.valueAsNumber
              if (Number.isInteger(rounds) && rounds >= 1 && rounds <= 1000) change({ rounds })
            }}
          />
        </label>
        <label class="field lesson-skew">
          <span>Split</span>
          <input
            type="range"
            data-testid="skew"
            min={0}
            max={1}
            step={0.05}
            disabled={isOn}
            value={shown.skew}
            aria-valuetext={skewWords(shown.skew)}
            onInput={(event) => change({ skew: event.currentTarget.valueAsNumber })}
          />
          <span class="lesson-ends" aria-hidden="true">
            <span>all alike</span>
            <span>by label</span>
          </span>
        </label>
      </div>
      <Buttons />
    </section>
  )
}

function Buttons(): JSX.Element {
  const { state, run, room, train, word } = useLearn()
  const now = state.value
  const { members, groupState } = now.learning
  const silent = absent(now)
  const isAlone = members.length < 2
  const isOn = isLearningNow(now)
  const isPending = word.value === 'preparing' || word.value === 'waiting'
  const reason =
    now.place !== 'joined'
      ? 'This page is not in a room yet.'
      : groupState === 'ready' && silent.length > 0
        ? `${silent.join(', ')}: in the room, but not on this page.`
        : undefined
  const done = run.value ? roundsDone(run.value) : 0
  return (
    <div class="lesson-buttons">
      {isOn ? (
        <button type="button" class="button stop" data-testid="stop" onClick={() => room.stop()}>
          <Icon name="stop" />
          Stop
        </button>
      ) : (
        <button
          type="button"
          class="button go"
          data-testid="train"
          disabled={reason !== undefined || isPending}
          onClick={train}
        >
          <Icon name="run" />
          {isAlone ? `Train with ${companions} peers in this page` : done > 0 ? 'Train anew' : 'Train'}
        </button>
      )}
      <button
        type="button"
        class="button"
        data-testid="leave"
        disabled={now.place !== 'joined'}
        onClick={() => void room.leave()}
      >
        Leave
      </button>
      {isOn && run.value ? <RoundBar /> : reason !== undefined && <p class="note">{reason}</p>}
    </div>
  )
}

/** How far the run is: its rounds, and this peer's training of the one that goes on. */
function RoundBar(): JSX.Element | null {
  const { run } = useLearn()
  if (!run.value) return null
  const { lesson, phase, fraction } = run.value
  const done = roundsDone(run.value)
  const within = phase === 'training' ? 0.9 * fraction : phase === 'preparing' ? 0 : 0.9
  const percent = Math.min(100, (100 * (done + (done < lesson.rounds ? within : 0))) / lesson.rounds)
  return (
    <span
      class="progress"
      role="progressbar"
      aria-label="Rounds done"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
      data-testid="rounds-done"
      data-rounds={done}
    >
      <span class="progress-bar" style={{ width: `${percent}%` }} />
    </span>
  )
}
