// Starts the real program as a child on a free port, and waits until it says that it is ready.
import { spawn, type ChildProcess } from 'node:child_process'
import path from 'node:path'
import { patienceMs } from './patience.ts'

/** A server under way. */
export interface StartedServer {
  /** Address without a slash at the end. */
  url: string
  /** Of the process that was started; with one worker it is the one that answers. */
  pid: number
  /** Everything it has written so far to both outputs. */
  output(): string
  /** Asks it to end and answers its exit code; kills it where it hangs. */
  stop(): Promise<number | null>
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>
}

export interface StartOptions {
  /** Arguments behind `serve --port 0`. */
  args: string[]
  /** Default as long as a test waits for what comes soon: on a busy machine, several workers take their time. */
  readyWithinMs?: number
  environment?: NodeJS.ProcessEnv
  /** What runs Node and becomes it, such as `taskset -c 0`. Default nothing. */
  wrapper?: string[]
  /** Flags of Node. Default none. */
  nodeFlags?: string[]
}

const readyLine = /^Aftercast is ready at (?<url>http:\/\/\S+?)\/?$/m

/** Rejects with what the server wrote where it ends, or is not ready in time. */
export async function startServer(options: StartOptions): Promise<StartedServer> {
  const program = path.resolve(import.meta.dirname, '../../server/main.ts')
  // As npm start and the first line of main.ts have it.
  const nodeFlags = ['--max-semi-space-size=8', ...(options.nodeFlags ?? [])]
  const flags = [...nodeFlags, program, 'serve', '--port', '0', ...options.args]
  const [command, ...words] = [...(options.wrapper ?? []), process.execPath, ...flags]
  const child = spawn(command ?? process.execPath, words, {
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let written = ''
  const note = (chunk: Buffer): void => void (written += chunk.toString())
  child.stdout.on('data', note)
  child.stderr.on('data', note)
  try {
    const url = await waitUntilReady(child, () => written, options.readyWithinMs ?? patienceMs)
    return {
      url,
      pid: child.pid ?? NaN,
      output: () => written,
      stop: () => stop(child),
      kill: () => kill(child),
    }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

function waitUntilReady(child: ChildProcess, written: () => string, limitMs: number) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const lookup = (): void => {
    const url = readyLine.exec(written())?.groups?.url
    if (url !== undefined) resolve(url)
  }
  const fail = (what: string): void => reject(new Error(`${what}:\n${written()}`))
  const timer = setTimeout(() => fail(`the server was not ready in ${limitMs} ms`), limitMs)
  child.stdout?.on('data', lookup)
  child.once('error', reject)
  child.once('exit', (code) => fail(`the server ended with ${code}`))
  return promise.finally(() => clearTimeout(timer))
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('exit', resolve)
  child.kill('SIGTERM')
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
