// The parent's side of one decoder process: its start, one job at a time within limits, and its end.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { AppError } from '../errors.ts'
import type { ChildMessage } from './child-message.ts'

/** Which program a process runs. */
export interface DecoderProgram {
  /** The child's file, as `childFile` finds it. */
  file: string
  /** What the log and errors call it, e.g. `picture decoder`. */
  name: string
  /** Environment of the process; it has no other. */
  environment?: Record<string, string>
}

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
export type JobResult<Value> =
  | { status: 'done'; value: Value }
  | { status: 'undecodable'; reason: string }
  | { status: 'killed'; reason: string }

const MEMORY_POLL_MS = 50
/** Below this share of a processor, it is the machine that took too long: a job that is not hostile needs no more. */
const FAIR_SHARE = 0.25
/** Of /proc's figures: USER_HZ, 100 on every Linux that Node runs on (proc(5)). */
const MS_PER_TICK = 10
const MAX_HEAP_MIB = 192

/** One process. It never keeps the server alive, and knows nothing of it: no environment, no files, no terminal. */
export class DecoderProcess<Job extends object, Value> {
  readonly #child: ChildProcess
  readonly #program: DecoderProgram
  readonly #limits: DecoderLimits
  readonly #started: Promise<void>
  #settle: ((answer: JobResult<Value>) => void) | undefined
  #killReason: string | undefined
  #ended = false

  constructor(program: DecoderProgram, limits: DecoderLimits) {
    this.#program = program
    this.#limits = limits
    this.#child = fork(program.file, [], {
      env: program.environment ?? {},
      execArgv: [`--max-old-space-size=${MAX_HEAP_MIB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child.unref()
    this.#child.channel?.unref()
    this.#started = this.#waitForStart()
    // The rejection is told by run(), which may come later or never.
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

  /**
   * Runs one job; never two at once. Throws AppError `failed` where the process does not start, `busy` where the time is
   * over and it was the machine that had none for the job, and the signal's reason.
   */
  async run(job: Job, signal: AbortSignal): Promise<JobResult<Value>> {
    await this.#started
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<JobResult<Value>>()
    this.#settle = resolve
    const workedBefore = this.#workedMs()
    const timer = setTimeout(() => {
      void this.#isStarved(workedBefore).then((isStarved) => {
        if (isStarved)
          reject(new AppError('busy', `No time for the ${this.#program.name}; try again soon`))
        this.kill('it took too long')
      })
    }, this.#limits.jobMs)
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
      reject(new AppError('failed', `The ${this.#program.name} does not start`, { cause }))
    const timer = setTimeout(() => {
      this.kill('it did not start')
      fail()
    }, this.#limits.startMs)
    this.#child.on('message', (message) => {
      clearTimeout(timer)
      // Only our own child speaks on this channel, in this type.
      const said = message as ChildMessage<Value>
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

  /** Whether it could have done more in the time of a job, had the machine let it. */
  async #isStarved(workedBefore: Promise<number>): Promise<boolean> {
    const worked = (await this.#workedMs()) - (await workedBefore)
    return worked < FAIR_SHARE * this.#limits.jobMs
  }

  /** Processor time so far, of all its threads; NaN where there is no /proc. */
  async #workedMs(): Promise<number> {
    try {
      const stat = await readFile(`/proc/${this.#child.pid}/stat`, 'latin1')
      // Behind the name in brackets, which may hold spaces: fields 14 and 15, utime and stime (proc(5)).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
    } catch {
      return NaN
    }
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
