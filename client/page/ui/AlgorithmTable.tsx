/** Every candidate for this call, fastest first, and what the call leaves out and why. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { labelOf } from '../../../shared/cost/explain.ts'
import { choiceOf } from '../session/choices.ts'
import { settingsKey } from '../session/results.ts'
import { formatBytes, formatSeconds } from '../stage/format.ts'
import { useStore } from '../store.ts'
import { Icon } from './Icon.tsx'
import { TableScroll } from './TableScroll.tsx'
import { Term } from './Term.tsx'

const shownAtFirst = 12

export function AlgorithmTable(): JSX.Element {
  const store = useStore()
  const [isWhole, setWhole] = useState(false)
  const choice = useComputed(() =>
    choiceOf({ ...store.settings.value, algorithm: 'auto' }, store.size.value, store.model.value),
  ).value
  const measured = store.measured.value
  if (typeof choice === 'string') return <p class="why">{choice}</p>
  const { candidates, refused, why } = choice
  const shown = isWhole ? candidates : candidates.slice(0, shownAtFirst)
  const hidden = candidates.length - shown.length
  return (
    <>
      <h2 class="panel-title">Candidates, fastest first</h2>
      <p class="why">{why}</p>
      <TableScroll label="Candidates">
        <table class="numbers candidates" data-testid="candidates">
          <thead>
            <tr>
              <th scope="col">algorithm</th>
              <th scope="col">steps</th>
              <th scope="col">
                <Term of="identical">bits</Term>
              </th>
              <th scope="col">predicted</th>
              <th scope="col">measured</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((each, index) => {
              const found = measured.get(settingsKey(each.algorithm, each.settings))
              return (
                <tr key={labelOf(each)} data-chosen={index === 0}>
                  <th scope="row">
                    {labelOf(each)}
                    <span class="sub">{formatBytes(Math.round(each.bytesSent))} sent</span>
                  </th>
                  <td>{each.steps}</td>
                  <td>
                    {each.identical ? <Icon name="ok" size={16} /> : <span aria-hidden="true">–</span>}
                    <span class="heard">{each.identical ? 'same on all ranks' : 'may differ'}</span>
                  </td>
                  <td>{formatSeconds(each.seconds)}</td>
                  <td>{found ? formatSeconds(found.median) : '–'}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </TableScroll>
      {hidden > 0 && (
        <button type="button" class="button small" onClick={() => setWhole(true)}>
          Show {hidden} more
        </button>
      )}
      <details class="refused">
        <summary>{refused.length} left out</summary>
        <ul>
          {refused.map((each) => (
            <li key={labelOf(each)}>
              <strong>{labelOf(each)}</strong>: {each.reason}
            </li>
          ))}
        </ul>
      </details>
    </>
  )
}
