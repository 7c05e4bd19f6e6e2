import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { BufferStrip } from '../../../../../client/page/stage/charts/BufferStrip.tsx'
import { FitPlot } from '../../../../../client/page/stage/charts/FitPlot.tsx'
import { Gantt } from '../../../../../client/page/stage/charts/Gantt.tsx'
import { LinkMatrix } from '../../../../../client/page/stage/charts/LinkMatrix.tsx'
import type { LinkMetric } from '../../../../../client/page/stage/charts/linkMatrix.ts'
import { SizeChart } from '../../../../../client/page/stage/charts/SizeChart.tsx'
import { SweepChart } from '../../../../../client/page/stage/charts/SweepChart.tsx'
import { Playback } from '../../../../../client/page/stage/playback/Playback.tsx'
import { Timetable } from '../../../../../client/page/stage/timetable/Timetable.tsx'
import { predictionOf, tracesOf } from '../traces.ts'
import { fitsOf, linksOf, ranksOf, scheduleOf, sizesOf, sweepOf } from './samples.ts'

interface ViewProps {
  readonly query: URLSearchParams
}

function bytesOf(query: URLSearchParams): number {
  return Number(query.get('bytes') ?? 1 << 20)
}

function TimetableView({ query }: ViewProps): JSX.Element {
  const [{ schedule, ghostOf }] = useState(() => scheduleOf(query))
  const [ranks] = useState(() => ranksOf(schedule.size))
  const bytes = bytesOf(query)
  const time = query.get('mode') === 'time'
  const [predicted] = useState(() => predictionOf(schedule, bytes))
  const [messages] = useState(() => (query.has('measured') ? tracesOf(schedule, bytes) : undefined))
  const ends = messages?.flat().map((message) => message.end) ?? [predicted.reduce((a, b) => a + b, 0)]
  const end = time ? Math.max(...ends) : schedule.steps
  const at = query.get('cursor')
  const [cursor, setCursor] = useState(at === null ? end : Number(at))
  const stops = time
    ? [0, ...Array.from({ length: schedule.steps }, (_, i) => (end * (i + 1)) / schedule.steps)]
    : Array.from({ length: schedule.steps + 1 }, (_, i) => i)
  const progress = query.has('live')
    ? ranks.map((_, rank) => ({ step: 1 + (rank % 3), fraction: ((rank * 37) % 10) / 10 }))
    : undefined
  return (
    <>
      <Timetable
        schedule={schedule}
        bytes={bytes}
        ranks={ranks}
        mode={time ? 'time' : 'steps'}
        messages={messages}
        predicted={predicted}
        cursor={at === 'none' ? undefined : cursor}
        onCursor={setCursor}
        ghostOf={ghostOf}
        progress={progress}
        waiting={progress && [{ rank: 3, peers: [1] }]}
        detail={query.get('detail') === 'buffers' ? 'buffers' : undefined}
        simulated={messages === undefined && progress === undefined}
      />
      <Playback
        stops={stops}
        cursor={cursor}
        onCursor={setCursor}
        secondsPerUnit={time ? 6 / end : 1.2}
        autoPlay={query.has('play')}
      />
    </>
  )
}

function GanttView({ query }: ViewProps): JSX.Element {
  const [{ schedule }] = useState(() => scheduleOf(query))
  const [ranks] = useState(() => ranksOf(schedule.size))
  const [messages] = useState(() => tracesOf(schedule, bytesOf(query)))
  const [predicted] = useState(() => predictionOf(schedule, bytesOf(query)))
  return <Gantt ranks={ranks} messages={messages} predicted={predicted} />
}

function MatrixView({ query }: ViewProps): JSX.Element {
  const [{ schedule }] = useState(() => scheduleOf(query))
  const [ranks] = useState(() => ranksOf(schedule.size))
  const [links] = useState(() => linksOf(schedule.size))
  const [metric, setMetric] = useState<LinkMetric>('rtt')
  return <LinkMatrix ranks={ranks} links={links} metric={metric} onMetric={setMetric} schedule={schedule} />
}

function SweepView({ query }: ViewProps): JSX.Element {
  const [rows] = useState(() => sweepOf(Number(query.get('p') ?? 7), bytesOf(query)))
  return <SweepChart rows={rows} bytes={bytesOf(query)} />
}

function SizesView({ query }: ViewProps): JSX.Element {
  const [candidates] = useState(() => sizesOf(Number(query.get('p') ?? 7)))
  return <SizeChart candidates={candidates} bytes={bytesOf(query)} />
}

function FitView({ query }: ViewProps): JSX.Element {
  const size = Number(query.get('p') ?? 7)
  const [ranks] = useState(() => ranksOf(size))
  const [links] = useState(() => fitsOf(size))
  return <FitPlot ranks={ranks} links={links} />
}

function StripView({ query }: ViewProps): JSX.Element {
  const [{ schedule }] = useState(() => scheduleOf(query))
  const [ranks] = useState(() => ranksOf(schedule.size))
  return <BufferStrip schedule={schedule} ranks={ranks} rank={3} after={Number(query.get('cursor') ?? 2)} />
}

export const views: Readonly<Record<string, (props: ViewProps) => JSX.Element>> = {
  timetable: TimetableView,
  gantt: GanttView,
  links: MatrixView,
  sweep: SweepView,
  sizes: SizesView,
  fit: FitView,
  strip: StripView,
}
