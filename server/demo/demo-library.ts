// Creates the demo library in child processes, in a temporary folder that is renamed once it is
// complete.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { addAbortListener, once } from 'node:events'
import { readdir, readFile, rename, rm, mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { AppError, codeOf } from '../base/errors.ts'
import { DEMO_PLAN, longestSession } from './demo-plan.ts'
import type { DemoStreamer } from './demo-plan.ts'

export interface DemoOptions {
  /** Called with a line for the terminal after each session. */
  onProgress?: (line: string) => void
  signal: AbortSignal
  /** The library to create; by default the complete demo. */
  plan?: DemoStreamer[]
  /** Whether the package of the encoders is installed, which is optional. */
  hasEncoders?: boolean
}

/** File that marks a complete library; its content is the version. */
export const DEMO_MARKER = { name: '.aftercast-demo', version: '3\n' } as const
/** Infix of the names of temporary folders. */
const PARTIAL = '.partial-'
const MAX_PROCESSES = 4
const WITHOUT_ENCODERS =
  'the demo library needs the package node-av: run `npm install --global node-av@6`, ' +
  'or name a folder of recordings'
const CHILD_FILE = fileURLToPath(
  new URL(`./demo-child${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
)

/**
 * Creates the demo library in `folder`, whose parent exists, or leaves a complete one of this
 * version as it is (`kept`). Removes what interrupted runs left beside it.
 *
 * @throws AppError `usage` if the folder contains anything else, `failed` if creating fails, and
 * the signal's reason
 */
export async function createDemoLibrary(
  folder: string,
  { onProgress, signal, plan = DEMO_PLAN, hasEncoders = true }: DemoOptions,
): Promise<'made' | 'kept'> {
  const place = resolve(folder)
  if ((await findState(place)) === 'complete') return 'kept'
  if (!hasEncoders) throw new AppError('failed', WITHOUT_ENCODERS)
  await removeLeftovers(place)
  const partial = `${place}${PARTIAL}${randomUUID()}`
  await mkdir(partial).catch((cause: Error) => {
    throw new AppError('failed', `the demo library cannot be made: ${cause.message}`, { cause })
  })
  try {
    await makeAll(partial, plan, { signal, ...(onProgress && { onProgress }) })
    await writeFile(join(partial, DEMO_MARKER.name), DEMO_MARKER.version)
    await rm(place, { recursive: true, force: true })
    await rename(partial, place)
    return 'made'
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/**
 * Folders of interrupted runs. A process of such a run exits by itself, but may write a little
 * longer: hence the retries.
 */
async function removeLeftovers(place: string): Promise<void> {
  for (const name of await listNames(dirname(place))) {
    if (!name.startsWith(`${basename(place)}${PARTIAL}`)) continue
    await rm(join(dirname(place), name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** `ours`: missing, or a demo library of another version, which may be replaced. */
async function findState(folder: string): Promise<'complete' | 'ours'> {
  const names = await listNames(folder)
  if (names.length === 0) return 'ours'
  if (!names.includes(DEMO_MARKER.name)) {
    throw new AppError('usage', 'The folder for the demo library is not empty: choose another one')
  }
  const version = await readFile(join(folder, DEMO_MARKER.name), 'utf8')
  return version === DEMO_MARKER.version ? 'complete' : 'ours'
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw new AppError('usage', 'The parent of the demo folder is not a readable folder', {
      cause: error,
    })
  }
}

/** Each process takes its share of the long sessions. */
async function makeAll(
  folder: string,
  plan: DemoStreamer[],
  { onProgress, signal }: Pick<DemoOptions, 'onProgress' | 'signal'>,
): Promise<void> {
  const total = plan.reduce((sum, { sessions }) => sum + sessions.length, 0)
  let made = 0
  const onMade = () => onProgress?.(`Making the demo library: ${++made} of ${total} sessions`)
  const stopping = new AbortController()
  const either = AbortSignal.any([signal, stopping.signal])
  const sorted = plan.toSorted((left, right) => longestSession(right) - longestSession(left))
  const count = Math.min(MAX_PROCESSES, availableParallelism(), plan.length)
  const shares = Array.from({ length: count }, async (_, share) => {
    const streamers = sorted.filter((_streamer, at) => at % count === share)
    await makeShare([folder, JSON.stringify(streamers)], onMade, either).catch((error: unknown) =>
      stopping.abort(error),
    )
  })
  await Promise.all(shares)
  either.throwIfAborted()
}

async function makeShare(args: string[], onMade: () => void, signal: AbortSignal) {
  const child = fork(CHILD_FILE, args, {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  using _ = addAbortListener(signal, () => child.kill('SIGKILL'))
  child.on('message', onMade)
  const exit = once(child, 'exit')
  const words = child.stderr === null ? '' : await text(child.stderr)
  await exit
  if (child.exitCode === 0) return
  throw new AppError('failed', 'The demo library could not be created', {
    cause: new Error(`${words.trim().slice(-2000)} (${child.exitCode ?? child.signalCode})`),
  })
}
