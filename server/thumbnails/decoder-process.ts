// The parent's side of one decoder process: its start, one job at a time within limits, and its end.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { AppError } from '../errors.ts'
import type { ChildMessage, RenderedImage, RenderJob } from './render-message.ts'

export interface DecoderLimits {
  /** From the start of the process to its first word, in milliseconds. */
  startMs: number
  /** For one job, in milliseconds. */
  jobMs: number
  /** Resident memory of the process; watched while a job runs, where /proc tells it. */
  residentBytes: number
  /** How long a process may wait for a job before it is ended, in milliseconds. */
  idleMs: number
}

/** What became of a job. `killed`: the process ended under it, by a crash or because it passed a limit. */
export type RenderAnswer =
  | { status: 'rendered'; image: RenderedImage }
  | { status: 'undecodable'; reason: string }
  | { status: 'killed'; reason: string }

const MEMORY_POLL_MS = 50
const MAX_HEAP_MIB = 192
/** The child beside this file: TypeScript where that runs directly, JavaScript once emitted. */
const CHILD_FILE = fileURLToPath(
  new URL(`./decoder-child${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
)

/** One process. It never keeps the server alive, and knows nothing of it: no environment, no files, no terminal. */
export class DecoderProcess {
  readonly #child: ChildProcess
  readonly #limits: DecoderLimits
  readonly #started: Promise<void>
  #settle: ((answer: RenderAnswer) => void) | undefined
  #killReason: string | undefined
  #ended = false

  constructor(limits: DecoderLimits) {
    this.#limits = limits
    this.#child = fork(CHILD_FILE, [], {
      env: { SVT_LOG: '0' },
      execArgv: [`--max-old-space-size=${MAX_HEAP_MIB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child.unref()
    this.#child.channel?.unref()
    this.#started = this.#waitForStart()
    // The rejection is told by render(), which may come later or never.
    this.#started.catch(() => undefined)
    this.#child.on('exit', (_code, signal) => this.#end(signal))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether the process cannot take another job. */
  get ended(): boolean {
    return this.#ended || this.#killReason !== undefined
  }

  /** Runs one job; never two at once. Throws AppError `failed` where the process does not start, and the signal's reason. */
  async render(job: RenderJob, signal: AbortSignal): Promise<RenderAnswer> {
    await this.#started
    signal.throwIfAborted()
    const { promise, resolve } = Promise.withResolvers<RenderAnswer>()
    this.#settle = resolve
    const timer = setTimeout(() => this.kill('it took too long'), this.#limits.jobMs)
    const poll = setInterval(() => void this.#checkMemory(), MEMORY_POLL_MS)
    const onAbort = () => this.kill('nobody waits for it')
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await this.#checkMemory()
      if (this.ended) this.#end(null)
      else this.#child.send(job, (error) => error && this.kill('it could not be reached'))
      const answer = await promise
      signal.throwIfAborted()
      return answer
    } finally {
      clearTimeout(timer)
      clearInterval(poll)
      signal.removeEventListener('abort', onAbort)
      this.#settle = undefined
    }
  }

  /** Ends the process at once; a job under way is answered `killed` with the reason. */
  kill(reason: string): void {
    this.#killReason ??= reason
    this.#child.kill('SIGKILL')
  }

  #waitForStart(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const fail = (cause?: unknown) =>
      reject(new AppError('failed', 'The picture decoder does not start', { cause }))
    const timer = setTimeout(() => {
      this.kill('it did not start')
      fail()
    }, this.#limits.startMs)
    this.#child.on('message', (message) => {
      clearTimeout(timer)
      // Only our own child speaks on this channel, in this type.
      const said = message as ChildMessage
      if (said.status === 'ready') resolve()
      else this.#settle?.(said)
    })
    this.#child.once('error', (cause) => {
      clearTimeout(timer)
      this.#ended = true
      fail(cause)
    })
    this.#child.once('exit', () => {
      clearTimeout(timer)
      fail()
    })
    return promise
  }

  #end(signal: NodeJS.Signals | null): void {
    this.#ended = true
    const reason = this.#killReason ?? `the decoder crashed (${signal ?? 'exit'})`
    this.#settle?.({ status: 'killed', reason })
  }

  async #checkMemory(): Promise<void> {
    try {
      const status = await readFile(`/proc/${this.#child.pid}/status`, 'latin1')
      const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
      if (kibibytes * 1024 > this.#limits.residentBytes) this.kill('it took too much memory')
    } catch {
      // No /proc here (not Linux), or the process has just ended: the time limit and the heap limit remain.
    }
  }
}
