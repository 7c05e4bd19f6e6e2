/** The numbers that matter: how far, how good together, how good alone, how much was sent for it. */
import type { ComponentChildren, JSX } from 'preact'
import { outcomeOf, roundsDone } from '../../../learn/state.ts'
import { formatBytes } from '../../stage/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { useLearn } from '../store.ts'

function Score(props: {
  label: string
  testId: string
  value?: number | undefined
  children: ComponentChildren
  note?: string
}): JSX.Element {
  return (
    <div class="figure">
      <dt>{props.label}</dt>
      <dd>
        <span class="figure-value" data-testid={props.testId} data-value={props.value}>
          {props.children}
        </span>
        <span class="figure-note">{props.note}</span>
      </dd>
    </div>
  )
}

const percent = (value: number | undefined) => (value === undefined ? '–' : `${(100 * value).toFixed(1)} %`)

export function Scores(): JSX.Element | null {
  const { run } = useLearn()
  const now = run.value
  if (!now) return null
  const { averaged, alone, hash } = outcomeOf(now)
  const last = now.rounds.at(-1)
  return (
    <section class="learn-scores" aria-label="How good the models are">
      <dl class="figures">
        <Score label="round" testId="score-round" value={roundsDone(now)} note={`of ${now.lesson.rounds}`}>
          {roundsDone(now)}
        </Score>
        <Score label="together" testId="score-averaged" value={averaged} note="averaged model">
          {percent(averaged)}
        </Score>
        <Score label="alone" testId="score-alone" value={alone} note="mean of the peers">
          {percent(alone)}
        </Score>
        <Score label="sent in a round" testId="score-sent" value={last?.bytesSent} note="by this page's peer">
          {last ? formatBytes(last.bytesSent) : '–'}
        </Score>
      </dl>
      {hash !== undefined && last && (
        <p class="verify">
          <span class="good">
            <Icon name="ok" size={16} />
            {last.peers.length} of {last.peers.length} peers hold the same model
          </span>
          <span>
            hash{' '}
            <span class="mono" data-testid="hash">
              {hash}
            </span>
          </span>
          {now.trainingError !== undefined && (
            <span class="bad">Training failed here: {now.trainingError}</span>
          )}
        </p>
      )}
    </section>
  )
}
