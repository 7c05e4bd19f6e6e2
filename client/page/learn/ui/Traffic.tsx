/** What has left this tab, to whom, and what has not. */
import type { JSX } from 'preact'
import { formatBytes } from '../../stage/format.ts'
import { RankChip } from '../../ui/RankChip.tsx'
import { TableScroll } from '../../ui/TableScroll.tsx'
import { privacySentence } from '../../words/learn.ts'
import { hueOf } from '../shown.ts'
import { useLearn } from '../store.ts'

export function Traffic(): JSX.Element {
  const { state, run, hands } = useLearn()
  const now = state.value
  const { members } = now.learning
  const current = run.value
  const own = new Set([now.self?.peerId, ...now.inPage])
  const places = current?.pupils.filter(({ peerId }) => own.has(peerId)).map(({ place }) => place)
  const found = hands.value
  // Who comes late may sit where somebody has left: the same samples, counted once.
  const samples = places && found && [...new Set(places.map((place) => found[place % found.length]!))].flat()
  const names = new Map([...(current?.pupils ?? []), ...members].map(({ peerId, name }) => [peerId, name]))
  const sent = [...(current?.bytesTo ?? [])].sort(([, a], [, b]) => b - a)
  const total = sent.reduce((sum, [, bytes]) => sum + bytes, 0)
  return (
    <section class="learn-traffic" aria-labelledby="traffic-title">
      <h2 id="traffic-title">What leaves this tab</h2>
      <p class="why" data-testid="privacy">
        {privacySentence(
          current,
          samples?.reduce((sum, count) => sum + count, 0),
        )}
      </p>
      {sent.length > 0 && (
        <TableScroll label="What was sent to whom">
          <table class="numbers" data-testid="traffic" data-total={total}>
            <thead>
              <tr>
                <th scope="col">sent by {now.self?.name} to</th>
                <th scope="col">weights and numbers</th>
                <th scope="col">samples</th>
              </tr>
            </thead>
            <tbody>
              {sent.map(([peerId, bytes]) => {
                const rank = members.findIndex((member) => member.peerId === peerId)
                return (
                  <tr key={peerId} data-bytes={bytes}>
                    <th scope="row">
                      {rank >= 0 && <RankChip rank={rank} hue={hueOf(current, peerId, rank)} />}{' '}
                      {names.get(peerId) ?? 'a peer'}
                      {rank < 0 && ' (left)'}
                    </th>
                    <td>{formatBytes(bytes)}</td>
                    <td>0 B</td>
                  </tr>
                )
              })}
              <tr>
                <th scope="row">in all</th>
                <td>{formatBytes(total)}</td>
                <td>0 B</td>
              </tr>
            </tbody>
          </table>
        </TableScroll>
      )}
    </section>
  )
}
