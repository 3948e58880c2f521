// `npm start`: prepares the clone, then serves. Signals reach the server, and its exit code is ours.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { PrepareError, ensureBuilt, ensureInstalled, findRuntime, root } from './prepare.mjs'

try {
  await ensureInstalled()
  const runtime = findRuntime()
  await ensureBuilt()
  serve(runtime, process.argv.slice(2))
} catch (error) {
  if (!(error instanceof PrepareError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/**
 * @param {string} runtime
 * @param {string[]} args
 */
function serve(runtime, args) {
  const main = path.join(root, 'server', 'main.ts')
  const server = spawn(runtime, [main, 'serve', ...args], { stdio: 'inherit' })
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => server.kill(signal))
  server.once('error', (cause) => {
    process.stderr.write(`${runtime} could not be run: ${cause.message}\n`)
    process.exitCode = 1
  })
  server.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of signals) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}
