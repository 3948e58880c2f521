// The program's log: one JSON object per line, and few lines for a cause that repeats.
import { pino, stdSerializers } from 'pino'
import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'
import type { LineOutput } from './line-output.ts'
import { RepeatLimit } from './repeat-limit.ts'

/** Interval of the limits below. */
const INTERVAL_MS = 60_000
/** Lines with the same error; only the first has its stack. */
const MAX_ERROR_LINES = 10
/** Lines with the same message and without an error, such as slow requests. */
const MAX_PLAIN_LINES = 1000
/** Levels below are not limited: `log.level` and `log.requests` select them. */
const WARN = 40
const MAX_CAUSES = 3

export interface ProgramLog {
  logger: Logger
  figures: () => LogFigures
}

/** Lines that the log lacks so far. */
export interface LogFigures {
  /** Dropped because stderr did not accept them. */
  unwritable: number
  /** Left out because their cause repeated. */
  repeated: number
}

/**
 * Warnings and errors are limited by cause: message, and kind and place of the error. Where
 * `log.requests` is set, lines without an error are not limited: each request has a line then.
 */
export function createLog({ log }: Pick<Config, 'log'>, output: LineOutput): ProgramLog {
  const limit = new RepeatLimit({ intervalMs: INTERVAL_MS, now: () => performance.now() })
  const maxPlainLines = log.requests ? Infinity : MAX_PLAIN_LINES
  const excess = createExcess((lines) => logger.warn({ lines }, 'repeated log lines were left out'))
  const logger = pino(
    {
      level: log.level,
      serializers: { err: serializeError },
      hooks: {
        logMethod(args, method, level) {
          if (level < WARN) return method.apply(this, args)
          const { message, details, error } = readArguments(args)
          if (error === undefined) {
            const repetition = limit.count(message, maxPlainLines)
            return repetition === 'excess' ? excess.add(message) : method.apply(this, args)
          }
          const cause = `${message}: ${describeCause(error)}`
          const repetition = limit.count(cause, MAX_ERROR_LINES)
          if (repetition === 'excess') return excess.add(message)
          if (repetition === 'first') return method.apply(this, args)
          method.apply(this, [{ ...details, err: withoutStack(error) }, message])
        },
      },
    },
    { write: output.write },
  )
  output.onRecovered((lines) => logger.warn({ lines }, 'log lines could not be written'))
  return { logger, figures: () => ({ unwritable: output.dropped, repeated: excess.total }) }
}

interface LogArguments {
  message: string
  details: object
  error: Error | undefined
}

function readArguments([first, second]: readonly unknown[]): LogArguments {
  if (typeof first !== 'object' || first === null) {
    return { message: String(first), details: {}, error: undefined }
  }
  const message = typeof second === 'string' ? second : ''
  const error = 'err' in first && first.err instanceof Error ? first.err : undefined
  return { message, details: first, error }
}

/** Name, code and place of an error and its causes. No messages: they name files and addresses. */
function describeCause(error: Error, depth = 1): string {
  const code = 'code' in error ? String(error.code) : ''
  const place = error.stack?.split('\n').find((line) => /^ +at /.test(line)) ?? ''
  const own = `${error.name} ${code} ${place.trim()}`
  if (!(error.cause instanceof Error) || depth === MAX_CAUSES) return own
  return `${own} < ${describeCause(error.cause, depth + 1)}`
}

/** pino's own serializer would add a stack to an object with a message. */
function serializeError(error: unknown): unknown {
  return error instanceof Error ? stdSerializers.err(error) : error
}

function withoutStack(error: Error): object {
  const { type, message, code } = stdSerializers.err(error)
  return { type, message, code }
}

interface Excess {
  readonly total: number
  add(message: string): void
}

/** Counts the lines that are left out, and reports them by message once per interval. */
function createExcess(report: (lines: Record<string, number>) => void): Excess {
  const unreported = new Map<string, number>()
  const state = { total: 0 }
  const reportAll = (): void => {
    const lines = Object.fromEntries(unreported)
    unreported.clear()
    report(lines)
  }
  return {
    get total() {
      return state.total
    },
    add(message) {
      if (unreported.size === 0) setTimeout(reportAll, INTERVAL_MS).unref()
      unreported.set(message, (unreported.get(message) ?? 0) + 1)
      state.total += 1
    },
  }
}
