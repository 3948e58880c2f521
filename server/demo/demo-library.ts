// Makes the demo library: in processes of its own, in a folder beside its place, which it takes only when all is there.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rename, rm, mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../errors.ts'
import { DEMO_PLAN } from './demo-plan.ts'
import type { DemoStreamer } from './demo-plan.ts'

export interface DemoOptions {
  /** Called with a line for the terminal after each session. */
  onProgress?: (line: string) => void
  signal: AbortSignal
  /** What to make; by default the whole demo library. */
  plan?: DemoStreamer[]
}

/** Part of the plan, for one process. */
export interface DemoShare {
  folder: string
  streamers: DemoStreamer[]
}

/** What a process tells: one more session is made. */
export interface DemoMessage {
  made: 1
}

/** In the library's folder once it is complete; its content is the version. */
const MARKER = '.aftercast-demo'
const VERSION = '1\n'
/** Between the library's name and a run's own, while it is being made. */
const PARTIAL = '.partial-'
const MAX_PROCESSES = 4
/** What a session costs beside its length: drawing and encoding its loop takes as long as writing so many seconds of it. */
const LOOP_COST_SECONDS = 900

const CHILD_FILE = fileURLToPath(
  new URL(`./demo-child${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
)

/**
 * Makes the demo library in `folder`, or leaves a complete one of this version alone (`kept`). What an interrupted run left
 * beside it is removed. Throws AppError `usage` where the folder holds anything else, `failed` where making fails, and the
 * signal's reason.
 */
export async function createDemoLibrary(
  folder: string,
  { onProgress, signal, plan = DEMO_PLAN }: DemoOptions,
): Promise<'made' | 'kept'> {
  const place = resolve(folder)
  if ((await findState(place)) === 'complete') return 'kept'
  await removeLeftovers(place)
  const partial = `${place}${PARTIAL}${randomUUID()}`
  await mkdir(partial, { recursive: true })
  try {
    await makeAll(partial, plan, { signal, ...(onProgress && { onProgress }) })
    await writeFile(join(partial, MARKER), VERSION)
    await rm(place, { recursive: true, force: true })
    await rename(partial, place)
    return 'made'
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/** Folders of interrupted runs. A process of such a run ends by itself, but may write a moment longer: hence the retries. */
async function removeLeftovers(place: string): Promise<void> {
  for (const name of await listNames(dirname(place))) {
    if (!name.startsWith(`${basename(place)}${PARTIAL}`)) continue
    await rm(join(dirname(place), name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** `ours`: nothing there, or a demo library of another version, which may be replaced. */
async function findState(folder: string): Promise<'complete' | 'ours'> {
  const names = await listNames(folder)
  if (names.length === 0) return 'ours'
  if (!names.includes(MARKER)) {
    throw new AppError('usage', 'The folder for the demo library is not empty: name another one')
  }
  const version = await readFile(join(folder, MARKER), 'utf8')
  return version === VERSION ? 'complete' : 'ours'
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new AppError('usage', 'The place for the demo library is no readable folder', {
      cause: error,
    })
  }
}

async function makeAll(
  folder: string,
  plan: DemoStreamer[],
  { onProgress, signal }: Pick<DemoOptions, 'onProgress' | 'signal'>,
): Promise<void> {
  const total = plan.reduce((sum, { sessions }) => sum + sessions.length, 0)
  const stopping = new AbortController()
  const either = AbortSignal.any([signal, stopping.signal])
  let made = 0
  const onMade = () => onProgress?.(`Making the demo library: ${++made} of ${total} sessions`)
  const shares = sharePlan(plan, Math.min(MAX_PROCESSES, availableParallelism()))
  const outcomes = await Promise.allSettled(
    shares.map(async (streamers) => {
      try {
        await makeShare({ folder, streamers }, onMade, either)
      } catch (error) {
        stopping.abort(error)
        throw error
      }
    }),
  )
  signal.throwIfAborted()
  if (outcomes.some(({ status }) => status === 'rejected')) throw stopping.signal.reason
}

/** Divides the streamers so that every process has about as much to do; never more shares than streamers. */
export function sharePlan(plan: DemoStreamer[], count: number): DemoStreamer[][] {
  const shares = Array.from({ length: Math.min(count, plan.length) }, () => ({
    cost: 0,
    streamers: [] as DemoStreamer[],
  }))
  const costOf = ({ sessions }: DemoStreamer) =>
    sessions.reduce((sum, session) => sum + LOOP_COST_SECONDS + session.lengthSeconds, 0)
  for (const streamer of plan.toSorted((left, right) => costOf(right) - costOf(left))) {
    const least = shares.reduce((best, share) => (share.cost < best.cost ? share : best))
    least.cost += costOf(streamer)
    least.streamers.push(streamer)
  }
  return shares.map(({ streamers }) => streamers)
}

async function makeShare(share: DemoShare, onMade: () => void, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const child = fork(CHILD_FILE, [], {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const onAbort = () => child.kill('SIGKILL')
  signal.addEventListener('abort', onAbort, { once: true })
  const lastWords = collectLastWords(child)
  try {
    child.on('message', onMade)
    child.send(share)
    await once(child, 'exit')
    if (child.exitCode === 0) return
    throw new AppError('failed', 'The demo library cannot be made', {
      cause: new Error(`${lastWords()} (${child.exitCode ?? child.signalCode})`),
    })
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** The end of what the process says on its error output. */
function collectLastWords(child: ChildProcess): () => string {
  let words = ''
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (words = (words + text).slice(-2000)))
  return () => words.trim()
}
