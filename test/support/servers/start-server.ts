// Starts the program in a child process on a free port, and waits until it is ready.
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterTests } from '../after-tests.ts'
import { patienceMs } from '../patience.ts'
import { makeTempFolder } from '../temp-folder.ts'

/** A running server. */
export interface StartedServer {
  /** Address without a slash at the end. */
  url: string
  /** Of the started process; with one worker, it is the one that serves. */
  pid: number
  /** All output so far, of both streams. */
  output(): string
  /** Sends SIGTERM and returns the exit code; kills it if it hangs. */
  stop(): Promise<number | null>
  /** The exit code of a server that ends by itself: a signal could end Node while it cleans up. */
  ended(): Promise<number | null>
  /** Kills it, like a power failure. */
  kill(): Promise<void>
}

export interface StartOptions {
  /** Arguments after `serve --port 0`, or after `work`. */
  args: string[]
  /** Contents of its configuration file. Default none is named. */
  settings?: object
  /** Default `serve`. With `work`, the address is empty. */
  command?: 'serve' | 'work'
  /** Default `patienceMs`: on a busy machine, several workers take their time. */
  readyWithinMs?: number
  /** `AFTERCAST_WORKERS` is 1 unless this says otherwise. */
  environment?: NodeJS.ProcessEnv
  /** Folder of another release of the program. Default this one. */
  checkout?: string
  /** Entry of an installed program. Default that of `checkout`. */
  program?: string
  /** Prefix of the command, such as `taskset -c 0`. Default nothing. */
  wrapper?: string[]
  /** Descriptor for stderr. Default a pipe that is read, for `output`. */
  stderr?: number
  /** Flags of Node. Default none. */
  nodeFlags?: string[]
  /** Kills it when it aborts, before it is ready, too. */
  signal?: AbortSignal
}

const readyLine = /^Aftercast is ready (?:at (?<url>http:\/\/\S+?)\/?|to scan)$/m

/**
 * A server, which ends after the tests of the file at the latest. Rejects with its output if it
 * ends, or is not ready in time.
 */
export async function startServer(options: StartOptions): Promise<StartedServer> {
  const { checkout = path.resolve(import.meta.dirname, '../../..') } = options
  const { program = path.join(checkout, 'server/main.ts') } = options
  // As in npm start and the first line of main.ts.
  const nodeFlags = ['--max-semi-space-size=8', ...(options.nodeFlags ?? [])]
  const command = options.command === 'work' ? ['work'] : ['serve', '--port', '0']
  const settings = options.settings ? ['--config', writeSettings(options.settings)] : []
  const flags = [...nodeFlags, program, ...command, ...options.args, ...settings]
  const [executable, ...words] = [...(options.wrapper ?? []), process.execPath, ...flags]
  const child = spawn(executable ?? process.execPath, words, {
    env: { ...process.env, AFTERCAST_WORKERS: '1', ...options.environment },
    stdio: ['ignore', 'pipe', options.stderr ?? 'pipe'],
    ...(options.signal && { signal: options.signal, killSignal: 'SIGKILL' }),
  })
  let written = ''
  const note = (chunk: Buffer): void => void (written += chunk.toString())
  child.stdout?.on('data', note)
  child.stderr?.on('data', note)
  try {
    const url = await waitUntilReady(child, () => written, options.readyWithinMs ?? patienceMs)
    const stop = () => ended(child, 'SIGTERM')
    afterTests(stop)
    return {
      url,
      pid: child.pid ?? NaN,
      output: () => written,
      stop,
      ended: () => ended(child),
      kill: () => kill(child),
    }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

function writeSettings(settings: object): string {
  const file = path.join(makeTempFolder('settings'), 'settings.json')
  writeFileSync(file, JSON.stringify(settings))
  return file
}

function waitUntilReady(child: ChildProcess, written: () => string, limitMs: number) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const lookup = (): void => {
    const line = readyLine.exec(written())
    if (line !== null) resolve(line.groups?.url ?? '')
  }
  const fail = (what: string): void => reject(new Error(`${what}:\n${written()}`))
  const timer = setTimeout(() => fail(`the server was not ready in ${limitMs} ms`), limitMs)
  child.stdout?.on('data', lookup)
  child.once('error', reject)
  child.once('exit', (code) => fail(`the server ended with ${code}`))
  return promise.finally(() => clearTimeout(timer))
}

async function ended(child: ChildProcess, signal?: 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('exit', resolve)
  if (signal) child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  return promise.finally(() => clearTimeout(timer))
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGKILL')
  await promise
}

/** Worker processes of a primary; its other children have ended after the first scan. */
export function childrenOf(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return list.split(' ').filter(Boolean).map(Number)
}
