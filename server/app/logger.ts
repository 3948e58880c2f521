// The program's log: one JSON object per line on stderr.
import { pino } from 'pino'
import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'

const STDERR = 2

export function createLogger({ log }: Pick<Config, 'log'>): Logger {
  return pino({ level: log.level }, pino.destination({ fd: STDERR, sync: true }))
}
