import type { LabEvent } from '../../../../client/page/session/events.ts'

/** A call of four steps tells how far it is. */
export function progressEvent(step: number, fraction: number): LabEvent {
  const bytes = 100 * fraction
  const progress = {
    op: 1,
    algorithm: 'ring',
    settings: {},
    step,
    steps: 4,
    bytes,
    bytesTotal: 100,
    fraction,
  }
  return { kind: 'progress', runId: 'r', progress }
}
