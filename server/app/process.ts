// The process of the program: arguments, output, signals, exit code. Only main.ts and this file use
// `process`.
import { createRequire } from 'node:module'
import { Writable } from 'node:stream'
import type koffi from 'koffi'
import type { Io } from './io.ts'
import { openLineOutput } from '../base/log/line-output.ts'
import type { LineOutput } from '../base/log/line-output.ts'
import { formatUnexpected, runProgram } from './program.ts'

/** A terminal and npm both forward Ctrl-C: signals closer together than this count as one. */
const sameSignalMs = 500
/** How long open work may take to end once the exit code is set. */
const lingerMs = 10_000

const ending = new AbortController()
endOnSignals(ending)
// A closed pipe (`aftercast serve | head -1`) must not end the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
const io = createIo(ending.signal)
const failure = endOnFailure(ending, io)
const exitCode = await runProgram(process.argv.slice(2), {
  io,
  environment: process.env,
  workingFolder: process.cwd(),
  // As in docs/deploy/aftercast.service.
  serviceFolder: '/etc/aftercast',
})
process.exitCode = failure.hasFailed ? 1 : exitCode
// A worker's channel to its primary would keep it alive.
if (process.connected) process.disconnect()
// A handle that was left open must not keep the process alive.
setTimeout(() => endNow(process.exitCode), lingerMs).unref()
await io.log.close()

function createIo(signal: AbortSignal): Io {
  const log = openLineOutput(process.stderr.fd)
  return {
    stdout: (line) => process.stdout.write(`${line}\n`),
    announce: (line) => openLineOutput(process.stdout.fd).write(`${line}\n`),
    stderr: (line) => log.write(`${line}\n`),
    log,
    terminal: process.stderr.isTTY ? createTerminal(log) : undefined,
    processId: process.pid,
    nodeVersion: process.version,
    signal,
  }
}

/** Unlike `process.stderr`, it does not stop the process while the terminal is stopped (Ctrl-S). */
function createTerminal(output: LineOutput): NodeJS.WritableStream {
  const terminal = new Writable({
    write(chunk, _encoding, done) {
      output.write(String(chunk))
      done()
    },
  })
  return Object.assign(terminal, { isTTY: true, columns: process.stderr.columns })
}

/** SIGINT and SIGTERM end the program once its work is done; the second one ends it at once. */
function endOnSignals(controller: AbortController): void {
  let firstMs: number | undefined
  const end = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now()
    firstMs ??= nowMs
    controller.abort()
    if (nowMs - firstMs > sameSignalMs) endNow(signal === 'SIGINT' ? 130 : 143)
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

/**
 * An exception that nothing caught leaves an unknown state: the program ends like on a signal, with
 * exit code 1. An unhandled rejection is such an exception too.
 */
function endOnFailure(controller: AbortController, { stderr }: Io): { hasFailed: boolean } {
  const state = { hasFailed: false }
  process.on('uncaughtException', (error) => {
    if (state.hasFailed) return
    state.hasFailed = true
    process.exitCode = 1
    stderr(`aftercast: ${formatUnexpected(error)}`)
    controller.abort()
    setTimeout(() => endNow(1), lingerMs).unref()
  })
  return state
}

/**
 * `process.exit` waits for threads, and for ever for one in a file system that does not respond.
 * The system call ends them.
 */
function endNow(code: typeof process.exitCode): void {
  try {
    const { load }: typeof koffi = createRequire(import.meta.url)('koffi')
    load(null).func('void _exit(int)')(Number(code ?? 0))
  } catch {
    // There is no binary of koffi for this system.
    process.exit(code)
  }
}
