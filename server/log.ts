/**
 * One JSON line per event, on standard error. At `info` and above nothing tells who somebody is: no nickname, room code
 * or address; rooms have a number that means nothing outside the log.
 */
import { type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

export function createLog(level: string): Log {
  return pino({ level, base: { service: 'papilio' } }, pino.destination({ dest: 2, sync: true }))
}
