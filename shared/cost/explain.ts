/**
 * The sentences that tell people why, and how well the prediction did. Milliseconds and bytes as people read them.
 */
import type { Settings } from '../schedule/types.ts'
import type { Prediction } from './types.ts'

/** Settings in one order, whoever wrote them: `group = cyclic, r = 1`. */
export function settingsText(settings: Settings): string {
  return Object.keys(settings)
    .sort()
    .map((key) => `${key} = ${settings[key]}`)
    .join(', ')
}

export function labelOf({ algorithm, settings }: Pick<Prediction, 'algorithm' | 'settings'>): string {
  const text = settingsText(settings)
  return text ? `${algorithm} (${text})` : algorithm
}

/** Two significant digits, so that no noise is shown as knowledge. */
export function timeText(seconds: number): string {
  const ms = seconds * 1000
  if (ms >= 1000) return `${short(seconds)} s`
  if (ms >= 0.01) return `${short(ms)} ms`
  return `${short(ms * 1000)} µs`
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`
  if (bytes < 1024 * 1024) return `${short(bytes / 1024)} KiB`
  return `${short(bytes / 1024 / 1024)} MiB`
}

function short(value: number): string {
  return value >= 10 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}

const stepsText = (count: number) => (count === 1 ? 'one step' : `${count} steps`)

/** Why `chosen` was preferred to `other`, in one sentence that names what was traded for what. */
export function whyChosen(chosen: Prediction, other: Prediction | undefined, bytes: number): string {
  if (!other) return `${labelOf(chosen)}: the only candidate that this call admits.`
  const differing = differingSettings(chosen, other)
  const isOnlyR = differing !== undefined && Object.keys(differing).every((key) => key === 'r')
  const what = isOnlyR ? settingsText(differing) : labelOf(chosen)
  const than = differing ? settingsText(differingSettings(other, chosen) ?? {}) : labelOf(other)
  const faster = other.seconds - chosen.seconds
  if (faster < -1e-9)
    return `${what}: for this vector alone ${than} is predicted to be ${timeText(-faster)} faster, but r never rises with the vector.`

  const steps = other.steps - chosen.steps
  const moreBytes = chosen.bytesSent - other.bytesSent
  const percent = other.bytesSent > 0 ? Math.round((100 * Math.abs(moreBytes)) / other.bytesSent) : 0
  const stepsPart = steps === 0 ? '' : `${stepsText(Math.abs(steps))} ${steps > 0 ? 'fewer' : 'more'}`
  const bytesPart = percent === 0 ? '' : `${percent} % ${moreBytes > 0 ? 'more' : 'fewer'} bytes`
  const both = [stepsPart, bytesPart].filter(Boolean)
  if (faster < 1e-9)
    return `${what}: predicted to take as long as ${than}${steps > 0 ? ', in fewer steps' : ''}.`
  const [time, otherTime] = [timeText(chosen.seconds), timeText(other.seconds)]
  if (time === otherTime)
    return `${what}: as good as equal to ${than}, ${time} for both${both.length > 0 ? `, with ${both.join(' and ')}` : ''}.`
  const times = `${time} against ${otherTime}`
  if (both.length === 0) return `${what}: as many steps and bytes as ${than}, but they wait less, ${times}.`

  // What was saved and paid, in seconds of latency and of all the rest.
  const latency = other.parts.alpha - chosen.parts.alpha
  const rest = chosen.seconds - chosen.parts.alpha - (other.seconds - other.parts.alpha)
  if (steps > 0 && moreBytes > 0 && percent > 0 && latency > 0 && rest > 0)
    return `${what}: ${stepsPart} for ${bytesPart} than ${than}; at ${bytesText(bytes)} the ${steps === 1 ? "step's" : "steps'"} ${timeText(latency)} outweigh ${bytesText(moreBytes)} more.`
  if (steps < 0 && moreBytes < 0 && percent > 0 && latency < 0 && rest < 0)
    return `${what}: ${bytesPart} for ${stepsPart} than ${than}; at ${bytesText(bytes)} the bytes' ${timeText(-rest)} outweigh the ${steps === -1 ? "step's" : "steps'"} ${timeText(-latency)}.`
  const isMixed = (steps < 0 && percent > 0) || (steps >= 0 && moreBytes > 0 && percent > 0) || steps < 0
  const yet = isMixed ? `, yet ${latency > -rest ? 'its latencies overlap' : 'its bytes flow better'}` : ''
  return `${what}: ${both.join(' and ')} than ${than}${yet}, ${times}.`
}

/** The settings of `one` that differ, when both are of one algorithm and differ in few enough to be named by them. */
function differingSettings(one: Prediction, other: Prediction): Settings | undefined {
  if (one.algorithm !== other.algorithm) return undefined
  const keys = Object.keys(one.settings).filter((key) => one.settings[key] !== other.settings[key])
  return keys.length > 0 ? Object.fromEntries(keys.map((key) => [key, one.settings[key]!])) : undefined
}

/** `Predicted 38 ms. Measured 41 ms, 8 % slower.` */
export function measuredText(predictedSeconds: number, measuredSeconds: number): string {
  const percent = Math.round(100 * (measuredSeconds / predictedSeconds - 1))
  const verdict =
    percent === 0 ? 'as predicted' : percent > 0 ? `${percent} % slower` : `${-percent} % faster`
  const both = `Predicted ${timeText(predictedSeconds)}. Measured ${timeText(measuredSeconds)}`
  return predictedSeconds > 0 ? `${both}, ${verdict}.` : `${both}.`
}
