// What every way of serving needs: one process that does all, the one that scans, the ones that answer.
import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'
import type { Io } from './io.ts'
import type { Library } from './library.ts'

export interface Serving {
  config: Config
  io: Io
  logger: Logger
  library: Library
}
