import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Playback } from '../../../../../client/page/stage/playback/Playback.tsx'
import type { StageRank } from '../../../../../client/page/stage/timetable/data.ts'
import { Timetable } from '../../../../../client/page/stage/timetable/Timetable.tsx'
import { butterfly, doubling, ring } from '../schedules.ts'

interface ViewProps {
  readonly query: URLSearchParams
}

const names = [
  'Ana',
  'Bo',
  'Cem',
  'Dalia',
  'Emeka',
  'Faye',
  'Goran',
  'Hana',
  'Lime Monkey',
  'Ines',
  'Jo',
  'Kofi',
]

export function ranksOf(size: number): StageRank[] {
  return Array.from({ length: size }, (_, rank) => ({
    name: names[rank % names.length] ?? `Peer ${rank}`,
    peerId: `peer-${rank}`,
    hue: rank,
    here: rank === 0,
  }))
}

export function scheduleOf(query: URLSearchParams) {
  const size = Number(query.get('p') ?? 7)
  const algo = query.get('algo') ?? 'butterfly'
  return algo === 'ring' ? ring(size) : algo === 'doubling' ? doubling(size) : butterfly(size)
}

function TimetableView({ query }: ViewProps): JSX.Element {
  const [schedule] = useState(() => scheduleOf(query))
  const [ranks] = useState(() => ranksOf(schedule.size))
  const [ghostOf] = useState(() => (query.get('algo') === 'doubling' ? butterfly(schedule.size) : undefined))
  const at = query.get('cursor')
  const [cursor, setCursor] = useState(at === null ? schedule.steps : Number(at))
  return (
    <>
      <Timetable
        schedule={schedule}
        bytes={Number(query.get('bytes') ?? 1 << 20)}
        ranks={ranks}
        mode={query.get('mode') === 'time' ? 'time' : 'steps'}
        cursor={query.get('cursor') === 'none' ? undefined : cursor}
        onCursor={setCursor}
        ghostOf={ghostOf}
        simulated
      />
      <Playback
        stops={Array.from({ length: schedule.steps + 1 }, (_, i) => i)}
        cursor={cursor}
        onCursor={setCursor}
        secondsPerUnit={1.2}
      />
    </>
  )
}

export const views: Readonly<Record<string, (props: ViewProps) => JSX.Element>> = { timetable: TimetableView }
