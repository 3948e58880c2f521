// Starts the real program on a free port with a library and a data folder of its own, as a user would.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../server/main.ts', import.meta.url))
const READY_LINE = /^Aftercast is ready at (?<url>http:\S+)$/
const START_TIMEOUT_MS = 30_000

/** A server that runs; stop it when the test is over. */
export interface RunningServer {
  url: string
  process: ChildProcess
  dataFolder: string
  /** What it wrote to stderr so far. */
  errors(): string
  /** Ends it as a service manager does, and removes its data unless it was named. */
  stop(): Promise<number | null>
}

export interface ServerOptions {
  recordings?: string
  /** Kept after the stop where named. */
  dataFolder?: string
  environment?: Record<string, string>
  arguments?: readonly string[]
}

/** Rejects with what the program said where it does not become ready. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const dataFolder = options.dataFolder ?? (await mkdtemp(join(tmpdir(), 'aftercast-data-')))
  const recordings = options.recordings === undefined ? [] : [options.recordings]
  const child = spawn(
    process.execPath,
    [
      MAIN,
      'serve',
      ...recordings,
      '--port',
      '0',
      '--data',
      dataFolder,
      ...(options.arguments ?? []),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, AFTERCAST_WORKERS: '1', ...options.environment },
    },
  )
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const url = await readUrl(child).catch((cause: unknown) => {
    child.kill('SIGKILL')
    throw new Error(`the server did not start: ${errors}`, { cause })
  })
  return {
    url,
    process: child,
    dataFolder,
    errors: () => errors,
    stop: async () => {
      const code = await stop(child)
      if (options.dataFolder === undefined) await rm(dataFolder, { recursive: true, force: true })
      return code
    },
  }
}

async function readUrl(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout ?? process.stdin })
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS)
  try {
    for await (const line of lines) {
      const url = READY_LINE.exec(line)?.groups?.url
      if (url !== undefined) return url
    }
  } finally {
    clearTimeout(timer)
  }
  throw new Error('it ended before it was ready')
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  return child.exitCode
}
