// The process of the program: arguments, output, signals, exit code. Only main.ts and this file use
// `process`.
import type { Io } from './app/io.ts'
import { runProgram } from './program.ts'

/** A terminal and npm both forward Ctrl-C: signals closer together than this count as one. */
const sameSignalMs = 500
/** How long open work may take to end once the exit code is set. */
const lingerMs = 10_000

const ending = new AbortController()
endOnSignals(ending)
// A closed pipe (`aftercast serve | head -1`) must not end the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.exitCode = await runProgram(process.argv.slice(2), {
  io: createIo(ending.signal),
  environment: process.env,
  workingFolder: process.cwd(),
})
// A worker's channel to its primary would keep it alive.
if (process.connected) process.disconnect()
// A handle that was left open must not keep the process alive.
setTimeout(() => process.exit(), lingerMs).unref()

function createIo(signal: AbortSignal): Io {
  return {
    stdout: (line) => process.stdout.write(`${line}\n`),
    stderr: (line) => process.stderr.write(`${line}\n`),
    isTerminal: process.stderr.isTTY,
    signal,
  }
}

/** SIGINT and SIGTERM end the program once its work is done; the second one ends it at once. */
function endOnSignals(controller: AbortController): void {
  let firstMs: number | undefined
  const end = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now()
    firstMs ??= nowMs
    controller.abort()
    if (nowMs - firstMs > sameSignalMs) process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}
