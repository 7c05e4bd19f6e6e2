/** Where playback goes: arithmetic on positions. Stops are the ends of steps, ascending. */

export const speeds = [0.25, 0.5, 1, 2, 4, 8] as const

/** The position after `seconds` of playing; it stops at the end. */
export function advance(
  cursor: number,
  seconds: number,
  unitsPerSecond: number,
  stops: readonly number[],
): number {
  return Math.min(stops.at(-1) ?? 0, cursor + seconds * unitsPerSecond)
}

export function nextStop(cursor: number, stops: readonly number[]): number {
  return stops.find((stop) => stop > cursor + 1e-9) ?? stops.at(-1) ?? 0
}

export function previousStop(cursor: number, stops: readonly number[]): number {
  return stops.filter((stop) => stop < cursor - 1e-9).at(-1) ?? stops[0] ?? 0
}

/** Number of stops that lie behind the cursor, the first one not counted. */
export function stopsBehind(cursor: number, stops: readonly number[]): number {
  return Math.max(0, stops.filter((stop) => stop <= cursor + 1e-9).length - 1)
}

export function faster(speed: number): number {
  return speeds.find((s) => s > speed) ?? speed
}

export function slower(speed: number): number {
  return speeds.filter((s) => s < speed).at(-1) ?? speed
}
