// What every mode of serving needs: a single process, the scanning primary, and the workers.
import type { Logger } from 'pino'
import type { Config } from '../base/config/load-config.ts'
import type { Io } from './io.ts'
import type { Library } from './library.ts'

export interface Serving {
  config: Config
  io: Io
  logger: Logger
  library: Library
}
