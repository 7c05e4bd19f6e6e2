/** The four numbers that matter: P, r, time, wrong; measured over predicted; and the sentence why. */
import type { ComponentChildren, JSX } from 'preact'
import { measuredText } from '../../../shared/cost/explain.ts'
import { type Outcome, outcomeOf, survivorsOf } from '../../session/outcome.ts'
import { formatCount, formatPercent } from '../format.ts'
import { outcomesOf } from '../session/results.ts'
import type { RunState } from '../session/runState.ts'
import { formatSeconds, plural } from '../stage/format.ts'
import { useStore } from '../store.ts'
import type { GlossaryKey } from '../words/glossary.ts'
import { Icon } from './Icon.tsx'
import { Term } from './Term.tsx'

function Figure(props: {
  term: GlossaryKey
  label: string
  testId?: string
  children: ComponentChildren
  note?: ComponentChildren
}): JSX.Element {
  return (
    <div class="figure">
      <dt>
        <Term of={props.term}>{props.label}</Term>
      </dt>
      <dd>
        <span class="figure-value" data-testid={props.testId}>
          {props.children}
        </span>
        <span class="figure-note">{props.note}</span>
      </dd>
    </div>
  )
}

export function Board(): JSX.Element {
  const store = useStore()
  const simulated = store.simulated.value
  const run = store.stageView.value === 'run' ? store.run.value : undefined
  const choice = (run && store.runChoice.value) ?? store.choice.value
  const outcome = run && (outcomeOf(run, store.variant.value) ?? outcomesOf(run).at(-1))
  const plan = typeof choice === 'string' ? undefined : choice
  const used = outcome ?? plan?.chosen
  const r = used?.settings.r
  // Of the peers that are left nobody knew beforehand that they would be on their own.
  const isReduced = run !== undefined && run.lost.length > 0
  const predicted = isReduced ? undefined : outcome ? outcome.predictedSeconds : plan?.chosen.seconds
  const why = typeof choice === 'string' ? choice : outcome ? storyOf(outcome, run) : choice.why
  const size = outcome?.size ?? (run ? survivorsOf(run).length : store.size.value)
  if (simulated)
    return (
      <section class="board" aria-label="Choice">
        <p class="why" data-testid="why">
          {why}
        </p>
      </section>
    )
  return (
    <section class="board" aria-label="Result">
      <dl class="figures">
        <Figure term="P" label="P" note={isReduced ? `of ${run.members.length} at the start` : 'peers'}>
          <span data-testid="run-size">{size}</span>
        </Figure>
        <Figure term="r" label="r" note={used ? `${used.algorithm}, ${plural(used.steps, 'step')}` : ''}>
          {r ?? '–'}
        </Figure>
        <Figure
          term="measured"
          label="time"
          testId="time-measured"
          note={
            <>
              <Term of="predicted">predicted</Term>{' '}
              <span data-testid="time-predicted">
                {predicted === undefined ? '–' : formatSeconds(predicted)}
              </span>
              {outcome && predicted ? `, ${formatPercent(outcome.times.median / predicted - 1)}` : ''}
            </>
          }
        >
          {outcome ? formatSeconds(outcome.times.median) : '–'}
        </Figure>
        <Figure term="wrong" label="wrong" note={outcome ? boundOf(outcome) : 'elements'}>
          {outcome ? formatCount(outcome.wrong) : '–'}
        </Figure>
      </dl>
      {outcome && run?.phase !== 'running' && <Verify outcome={outcome} />}
      <p class="why" data-testid="why">
        {why}
      </p>
    </section>
  )
}

function boundOf({ exact, largestError }: Outcome): string {
  if (exact) return 'no rounding'
  return `largest error ${Math.round(largestError * 100)} % of the rounding bound`
}

/** How well the prediction did; and why this was run, when that was left to Papilio. */
function storyOf({ variant, predictedSeconds, times, why }: Outcome, run: RunState | undefined): string {
  if (run && run.lost.length > 0)
    return `Measured ${formatSeconds(times.median)}. There is no prediction for the ${plural(survivorsOf(run).length, 'peer')} that were left: it was made for ${run.members.length}.`
  const asked = run?.start.spec.variants[variant]
  const isChosen = asked?.algorithm === 'auto' || asked?.r === 'auto'
  const measured = measuredText(predictedSeconds, times.median)
  return isChosen ? `${measured} ${why}` : measured
}

/** Two questions, kept apart: is it right, and do all hold the same bits. */
function Verify({ outcome }: { outcome: Outcome }): JSX.Element {
  const { told, askedFor, size, missing, correct, wrong, identical, ulps, differing, compared } = outcome
  const isRight = wrong === 0 && told === askedFor
  return (
    <div class="verify" data-testid="verify" data-ok={isRight} data-identical={identical ?? 'unknown'}>
      <p class={isRight ? 'good' : 'bad'}>
        <Icon name={isRight ? 'ok' : 'bad'} />
        {told < askedFor
          ? `Only ${told} of ${plural(askedFor, 'peer')} told their result.`
          : `${correct} of ${askedFor} peers agree, ${plural(wrong, 'wrong element')}.`}
        {(missing > 0 || size > askedFor) && ` ${plural(size, 'vector')} of ${size + missing} are in it.`}
      </p>
      <p>
        <Term of="identical">Bit-identical</Term> on all ranks:{' '}
        {identical === undefined ? (
          'not known.'
        ) : identical ? (
          <strong>yes.</strong>
        ) : (
          <>
            <strong>no</strong> (rounding order
            {ulps === undefined
              ? ''
              : `, largest difference ${plural(ulps, 'ulp')} in ${formatCount(differing ?? 0)} of ${formatCount(compared ?? 0)} elements`}
            ).
          </>
        )}
      </p>
    </div>
  )
}
