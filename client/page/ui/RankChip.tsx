/** The number of a rank in its colour; from the ninth hue on the outline tells them apart. */
import type { JSX } from 'preact'
import { rankHue, rankInk, rankOutline } from '../styles/rankHue.ts'

export function RankChip({ rank, hue }: { rank: number; hue: number }): JSX.Element {
  const colors = { background: rankHue(hue), color: rankInk(hue) }
  return (
    <span class="rank-chip" data-outline={rankOutline(hue)} style={colors}>
      {rank}
    </span>
  )
}
