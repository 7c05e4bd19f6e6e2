/** Networks for tests: straight lines, so that the textbook's formulas can be checked on them. */
import { curveThrough } from '../../../shared/cost/curve.ts'
import { probeSizes } from '../../../shared/cost/fit.ts'
import type { LinkCurve, NetworkModel } from '../../../shared/cost/types.ts'

export const lineCurve = (alpha: number, beta: number): LinkCurve =>
  curveThrough(
    [0, ...probeSizes, 2 ** 26].map((bytes) => ({ bytes, seconds: alpha + beta * bytes })),
    1,
  )

export interface LineOptions {
  alpha?: number
  beta?: number
  gamma?: number
  overhead?: number
  hostBeta?: number
  sharedBeta?: number
  sharedOverhead?: number
  /** Curve of single links; the default line where undefined. */
  link?: (from: number, to: number) => LinkCurve | undefined
}

export function lineModel(size: number, options: LineOptions = {}): NetworkModel {
  const { alpha = 1e-3, beta = 1e-7, gamma = 0, overhead = 0, hostBeta = 0 } = options
  const curve = lineCurve(alpha, beta)
  return {
    version: 1,
    size,
    gamma,
    overhead,
    hostBeta,
    sharedBeta: options.sharedBeta ?? 0,
    sharedOverhead: options.sharedOverhead ?? 0,
    links: Array.from({ length: size }, (_, from) =>
      Array.from({ length: size }, (_, to) =>
        from === to ? undefined : (options.link?.(from, to) ?? curve),
      ),
    ),
  }
}
