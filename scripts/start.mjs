// `npm start` and `npm run aftercast`: prepares the clone, then runs a command of the program.
// Forwards signals to it and returns its exit code.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { PrepareError, ensureBuilt, ensureInstalled, findRuntime, root } from './prepare.mjs'

/**
 * As in the first line of server/main.ts: by default the newest objects may take 128 MiB of each
 * process.
 */
const RUNTIME_FLAGS = ['--max-semi-space-size=8']

const [command, ...rest] = process.argv.slice(2)
try {
  if (command === 'serve') requireFolder(rest[0])
  await ensureInstalled()
  const runtime = findRuntime()
  // Other commands need no page.
  if (command === 'serve') await ensureBuilt()
  start(runtime, process.argv.slice(2))
} catch (error) {
  if (!(error instanceof PrepareError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.exitCode
}

/**
 * A word that names no folder is probably meant as a command: `npm start -- check`.
 * @param {string | undefined} word
 */
function requireFolder(word) {
  if (word === undefined || !/^[a-z]+$/.test(word) || existsSync(word)) return
  const problem = `npm start serves recordings, and there is no folder ${word}`
  const remedy = `to run a command: npm run aftercast -- ${word}`
  throw Object.assign(new PrepareError(`${problem}; ${remedy}`), { exitCode: 2 })
}

/**
 * @param {string} runtime
 * @param {string[]} args
 */
function start(runtime, args) {
  const main = path.join(root, 'server', 'main.ts')
  const server = spawn(runtime, [...RUNTIME_FLAGS, main, ...args], { stdio: 'inherit' })
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => server.kill(signal))
  endWithParent(server)
  server.once('error', (cause) => {
    process.stderr.write(`${runtime} could not be started: ${cause.message}\n`)
    process.exitCode = 1
  })
  server.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of signals) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

/**
 * npm sends signals to the shell between npm and this process. The shell ends without forwarding
 * them, so its end counts as a signal.
 * @param {import('node:child_process').ChildProcess} server
 */
function endWithParent(server) {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    server.kill('SIGTERM')
  }, 250)
  timer.unref()
}
