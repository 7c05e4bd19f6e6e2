import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Playback } from '../../../../../client/page/stage/playback/Playback.tsx'
import type { StageRank } from '../../../../../client/page/stage/timetable/data.ts'
import { Timetable } from '../../../../../client/page/stage/timetable/Timetable.tsx'
import { buildSchedule } from '../../../../../shared/schedule/build.ts'
import { findAlgorithm } from '../../../../../shared/schedule/registry.ts'
import { butterfly, doubling, ring } from '../schedules.ts'
import { predictionOf, tracesOf } from '../traces.ts'

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
  if (algo === 'local') return butterfly(size)
  if (algo === 'ring') return ring(size)
  if (algo === 'doubling') return doubling(size)
  const r = query.get('r')
  return buildSchedule(findAlgorithm(algo, 'allreduce'), size, r === null ? {} : { r: Number(r) })
}

function TimetableView({ query }: ViewProps): JSX.Element {
  const [schedule] = useState(() => scheduleOf(query))
  const [ranks] = useState(() => ranksOf(schedule.size))
  const [ghostOf] = useState(() => (query.get('algo') === 'doubling' ? butterfly(schedule.size) : undefined))
  const at = query.get('cursor')
  const bytes = Number(query.get('bytes') ?? 1 << 20)
  const time = query.get('mode') === 'time'
  const [predicted] = useState(() => predictionOf(schedule, bytes))
  const [messages] = useState(() => (query.has('measured') ? tracesOf(schedule, bytes) : undefined))
  const ends = messages?.flat().map((message) => message.end) ?? [predicted.reduce((a, b) => a + b, 0)]
  const end = time ? Math.max(...ends) : schedule.steps
  const [cursor, setCursor] = useState(at === null ? end : Number(at))
  const stops = time
    ? [0, ...Array.from({ length: schedule.steps }, (_, i) => (end * (i + 1)) / schedule.steps)]
    : Array.from({ length: schedule.steps + 1 }, (_, i) => i)
  return (
    <>
      <Timetable
        schedule={schedule}
        bytes={bytes}
        ranks={ranks}
        mode={time ? 'time' : 'steps'}
        messages={messages}
        predicted={predicted}
        cursor={query.get('cursor') === 'none' ? undefined : cursor}
        onCursor={setCursor}
        ghostOf={ghostOf}
        simulated={messages === undefined}
      />
      <Playback stops={stops} cursor={cursor} onCursor={setCursor} secondsPerUnit={time ? 6 / end : 1.2} />
    </>
  )
}

export const views: Readonly<Record<string, (props: ViewProps) => JSX.Element>> = { timetable: TimetableView }
