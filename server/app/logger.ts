// The program's log: one JSON object per line on stderr.
import { pino } from 'pino'
import type { Logger } from 'pino'

const STDERR = 2

export function createLogger(): Logger {
  return pino({ level: 'warn' }, pino.destination({ fd: STDERR, sync: true }))
}
