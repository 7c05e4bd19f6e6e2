/**
 * What a message costs by its size: the measured curves of the links and the alpha-beta line, on log scales. Far left the
 * line is flat at alpha, far right it rises with beta: both are drawn and named.
 */
import type { LinkCurve } from '../../../../shared/cost/types.ts'
import type { Picture } from '../drawing/Chart.tsx'
import type { Hit } from '../drawing/hits.ts'
import { line, linePath, type Mark, round } from '../drawing/marks.ts'
import { binaryTicks, clamp, linear, logarithmic, logTicks } from '../drawing/scale.ts'
import { formatBytes, formatRate, formatSeconds, formatTick, plural } from '../format.ts'
import type { StageRank } from '../timetable/data.ts'
import { rankWords } from '../timetable/words.ts'

export interface FitLink {
  readonly from: number
  readonly to: number
  readonly curve: LinkCurve
}

/** `slowest`: the link that rules a step. `median`: the link in the middle. */
export type Pooling = 'slowest' | 'median'

export interface FitData {
  readonly ranks: readonly StageRank[]
  readonly links: readonly FitLink[]
  readonly pooling: Pooling
  /** The link to show instead, as "from to". */
  readonly link?: string | undefined
}

/** Cost of a message of 64 KiB by the fitted line: the measure by which links are ranked. */
function cost({ curve }: FitLink): number {
  return curve.alpha + 65536 * curve.beta
}

export function shownLink({ links, pooling, link }: FitData): FitLink | undefined {
  const named = links.find(({ from, to }) => `${from} ${to}` === link)
  if (named) return named
  const sorted = [...links].sort((a, b) => cost(a) - cost(b))
  return pooling === 'slowest' ? sorted.at(-1) : sorted[Math.floor((sorted.length - 1) / 2)]
}

export function layoutFit(data: FitData, width: number, scale = 1): Picture {
  const shown = shownLink(data)
  const points = data.links
    .flatMap(({ curve }) => curve.points)
    .filter((point) => point.bytes > 0 && point.seconds > 0)
  const height = Math.round(clamp(width * 0.62, 300 * scale, 460 * scale))
  if (shown === undefined || points.length === 0) return { width, height: 0, marks: [], hits: [] }
  const { alpha, beta } = shown.curve
  const strip = 64 * scale
  const [left, right, top, bottom] = [58 * scale, width - 30 * scale, 16 * scale, height - strip - 30 * scale]
  const sizes = points.map((point) => point.bytes)
  const times = [...points.map((point) => point.seconds), ...(alpha > 0 ? [alpha] : [])]
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)]
  const [fast, slow] = [Math.min(...times) / 1.4, Math.max(...times) * 1.4]
  const x = logarithmic(low, high > low ? high : 2 * low, left, right)
  const y = logarithmic(fast, slow, bottom, top)
  const lineAt = (bytes: number) => alpha + beta * bytes
  const samples = Array.from({ length: 41 }, (_, i) =>
    Math.exp(Math.log(low) + (i / 40) * Math.log(high / low)),
  )
  const label = (
    words: string,
    px: number,
    py: number,
    more: Partial<Mark & { kind: 'text' }> = {},
  ): Mark => ({
    kind: 'text',
    x: round(px),
    y: round(py),
    text: words,
    size: 12.5 * scale,
    fill: 'ink-2',
    ...more,
  })

  const marks: Mark[] = [
    ...logTicks(fast, slow).flatMap((tick) => [
      line(left, y(tick), right, y(tick), { stroke: 'hairline', line: 1 }),
      label(formatTick(tick), left - 7 * scale, y(tick) + 4 * scale, {
        anchor: 'end',
        mono: true,
        size: 12 * scale,
      }),
    ]),
    ...binaryTicks(low, high, Math.max(2, (right - left) / (62 * scale))).flatMap((tick) => [
      line(x(tick), bottom, x(tick), bottom + 5, { stroke: 'rule', line: 1 }),
      label(formatBytes(tick), x(tick), bottom + 19 * scale, {
        anchor: 'middle',
        mono: true,
        size: 12 * scale,
      }),
    ]),
    line(left, bottom, right, bottom, { stroke: 'rule', line: 1 }),
  ]
  for (const link of data.links)
    if (link !== shown)
      marks.push({
        kind: 'path',
        d: linePath(
          link.curve.points
            .filter((p) => p.bytes > 0 && p.seconds > 0)
            .map((p) => [x(p.bytes), y(p.seconds)]),
        ),
        fill: 'none',
        stroke: `rank-${(data.ranks[link.from]?.hue ?? link.from) % 8}`,
        line: 1,
        opacity: 0.3,
      })
  marks.push(...asymptotes(alpha, beta, { x, y, left, right, bottom, top, fast, slow, scale }, label))
  marks.push({
    kind: 'path',
    d: linePath(samples.filter((b) => lineAt(b) > 0).map((b) => [x(b), clamp(y(lineAt(b)), top, bottom)])),
    fill: 'none',
    stroke: 'accent',
    line: 2.5,
  })
  const hits: Hit[] = []
  const own = shown.curve.points.filter((point) => point.bytes > 0 && point.seconds > 0)
  marks.push({
    kind: 'path',
    d: linePath(own.map((p) => [x(p.bytes), y(p.seconds)])),
    fill: 'none',
    stroke: 'ink',
    line: 1.25,
  })
  for (const point of own) {
    marks.push({
      kind: 'circle',
      x: round(x(point.bytes)),
      y: round(y(point.seconds)),
      r: 4 * scale,
      fill: 'ink',
      stroke: 'ground',
      line: 1.5,
    })
    hits.push({
      x: x(point.bytes),
      y: y(point.seconds),
      series: 0,
      lines: [
        `${rankWords(data.ranks, shown.from)} → ${rankWords(data.ranks, shown.to)}, ${formatBytes(point.bytes)}`,
        `measured ${formatSeconds(point.seconds)}, line ${formatSeconds(lineAt(point.bytes))}`,
      ],
    })
  }
  marks.push(
    ...residualMarks(
      own,
      lineAt,
      { x, left, right, top: height - strip + 12 * scale, height: strip - 20 * scale, scale },
      label,
    ),
  )
  return { width, height, marks, hits }
}

interface Plane {
  readonly x: (bytes: number) => number
  readonly y: (seconds: number) => number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly fast: number
  readonly slow: number
  readonly scale: number
}

type Label = (words: string, x: number, y: number, more?: Partial<Mark & { kind: 'text' }>) => Mark

/** y = alpha and y = beta * bytes, which the line follows at its two ends. */
function asymptotes(alpha: number, beta: number, plane: Plane, label: Label): Mark[] {
  const { x, y, left, right, top, fast, slow, scale } = plane
  const marks: Mark[] = []
  const dashed = { stroke: 'accent', line: 1, dash: [2, 4] }
  if (alpha >= fast && alpha <= slow) {
    marks.push(line(left, y(alpha), right, y(alpha), dashed))
    marks.push(
      label(`α = ${formatSeconds(alpha)}: sending anything at all`, right, y(alpha) + 16 * scale, {
        anchor: 'end',
        fill: 'accent',
        halo: 'ground',
      }),
    )
  }
  if (beta > 0) {
    // Where the sloped line enters and leaves the plane, in bytes.
    const enters = Math.max(fast / beta, Math.exp(invertX(x, left)))
    const leaves = Math.min(slow / beta, Math.exp(invertX(x, right)))
    if (leaves > enters) {
      marks.push(line(x(enters), y(beta * enters), x(leaves), y(beta * leaves), dashed))
      marks.push(
        label(
          `β = ${formatRate(1 / beta)}: each byte`,
          x(leaves) - 10 * scale,
          Math.max(top + 12 * scale, y(beta * leaves) + 4 * scale),
          {
            anchor: 'end',
            fill: 'accent',
            halo: 'ground',
          },
        ),
      )
    }
  }
  return marks
}

/** log(bytes) at a px: x is linear in the logarithm. */
function invertX(x: (bytes: number) => number, px: number): number {
  const k = Math.log(2) / (x(2) - x(1))
  return k * (px - x(1))
}

/** How far each point lies from the line, in percent of it. */
function residualMarks(
  points: LinkCurve['points'],
  lineAt: (bytes: number) => number,
  strip: {
    x: (bytes: number) => number
    left: number
    right: number
    top: number
    height: number
    scale: number
  },
  label: Label,
): Mark[] {
  const { x, left, right, top, height, scale } = strip
  const off = points.map((point) => ({ bytes: point.bytes, part: point.seconds / lineAt(point.bytes) - 1 }))
  const most = Math.max(0.1, ...off.map(({ part }) => Math.abs(part)))
  const y = linear(-most, most, top + height, top)
  const percent = `${Math.round(most * 100)} %`
  return [
    line(left, y(0), right, y(0), { stroke: 'rule', line: 1 }),
    label(`+${percent}`, left - 7 * scale, top + 8 * scale, { anchor: 'end', mono: true, size: 12 * scale }),
    label(`−${percent}`, left - 7 * scale, top + height + 2 * scale, {
      anchor: 'end',
      mono: true,
      size: 12 * scale,
    }),
    label('distance from the line', right, top + 2 * scale, { anchor: 'end', halo: 'ground' }),
    ...off.flatMap(({ bytes, part }): Mark[] => [
      line(x(bytes), y(0), x(bytes), y(clamp(part, -most, most)), { stroke: 'ink-2', line: 2 }),
    ]),
  ]
}

export function fitSummary(data: FitData): string {
  const shown = shownLink(data)
  if (shown === undefined) return 'No link has been measured yet.'
  const { alpha, beta, residual } = shown.curve
  const which = data.link ? '' : data.pooling === 'slowest' ? 'Slowest of ' : 'Median of '
  return [
    `${which}${data.link ? 'Link' : plural(data.links.length, 'link')}: ${rankWords(data.ranks, shown.from)} → ${rankWords(data.ranks, shown.to)}.`,
    `Alpha ${formatSeconds(alpha)}, beta ${beta > 0 ? formatRate(1 / beta) : 'not measurable'}, the points lie ${Math.round(residual * 100)} % off the line.`,
    residual > 0.25 ? 'A straight line does not describe this link; predictions use the measured curve.' : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}
