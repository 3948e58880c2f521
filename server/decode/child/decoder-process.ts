// The parent's side of one decoder process: starts it, runs one job at a time within limits, and
// ends it.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { addAbortListener } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { setPriority } from 'node:os'
import type { Stream } from 'node:stream'
import { AppError } from '../../base/errors.ts'
import { parseChildMessage } from './child-message.ts'
import { receiveMessages, sendMessage } from './message-pipe.ts'
import { composeFork } from './sandbox-command.ts'
import type { Confinement } from './sandbox-command.ts'
import { environmentOf } from './sandbox.ts'

export interface DecoderProgram {
  /** Path of the program (see `childFile`). */
  file: string
  /** Name for logs and errors, e.g. `image decoder`. */
  name: string
  /** The complete environment of the process, except PATH. */
  environment?: Record<string, string>
  /** Niceness of the process. Default that of the server, for what a player waits for. */
  niceness?: number
  /** Options of Node, besides those that confine every process. */
  nodeOptions?: readonly string[]
}

export interface DecoderLimits {
  /** From the start of the process to its first message. */
  startMs: number
  /** Time limit of one job. */
  jobMs: number
  /** Limit of resident memory, checked during a job if there is a /proc. */
  residentBytes: number
  /** Processor time of a process, far more than a job takes; it is replaced before that. */
  cpuSeconds: number
  /** How long a process waits for another job before it is ended. */
  idleMs: number
}

/** A job, and the check of its value, which is undefined for a value that the job cannot have. */
export interface DecoderTask<Job, Value> {
  job: Job
  parse: (value: unknown) => Value | undefined
  /** Ends the process during the job, which rejects with the reason. Default never. */
  stop?: AbortSignal
}

/**
 * Result of a job. `killed`: the process ended during the job, by a crash or by exceeding a limit.
 */
export type JobResult<Value> =
  | { status: 'done'; value: Value }
  | { status: 'undecodable'; reason: string }
  | { status: 'killed'; reason: string }

const MEMORY_POLL_MS = 50
/** More than the images, audio or video of a job. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const MALFORMED = 'it sent a malformed message'
/** Below this share of a processor, a time-out is due to a busy machine, not to the job. */
const FAIR_SHARE = 0.25
/** USER_HZ is 100 on every Linux that Node supports (proc(5)). */
const MS_PER_TICK = 10
/** Share of the limit of processor time after which a process takes no further job. */
const REPLACED_AFTER = 0.5

/**
 * One confined process. It does not keep the server running, and gets no environment, no files and
 * no terminal.
 */
export class DecoderProcess<Job extends object> {
  readonly #child: ChildProcess
  readonly #program: DecoderProgram
  readonly #limits: DecoderLimits
  readonly #started: Promise<void>
  readonly #jobs: Socket | undefined
  readonly #replies: Socket | undefined
  #finishJob: ((result: JobResult<unknown>) => void) | undefined
  #killReason: string | undefined
  #ended = false

  constructor(program: DecoderProgram, limits: DecoderLimits, confinement: Confinement) {
    this.#program = program
    this.#limits = limits
    const readable = [...confinement.readable, program.file]
    const { execArgv, ...command } = composeFork(
      { ...confinement, readable },
      { memoryBytes: limits.residentBytes, cpuSeconds: limits.cpuSeconds },
    )
    this.#child = fork(program.file, [], {
      ...command,
      execArgv: [...execArgv, ...(program.nodeOptions ?? [])],
      env: { ...program.environment, ...environmentOf(confinement.searchPath) },
      stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
    })
    // Node trusts what it reads from this channel: a child could end the server.
    if (this.#child.connected) this.#child.disconnect()
    lowerPriority(this.#child.pid, program.niceness)
    this.#child.unref()
    this.#jobs = this.#prepare(this.#child.stdin)
    this.#replies = this.#prepare(this.#child.stdout)
    this.#started = this.#waitForStart()
    // run() reports the rejection, possibly later or never.
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
   * Runs one job; never two at once. Throws AppError `failed` if the process does not start, `busy`
   * if the job timed out for lack of processor time, and the signal's reason.
   */
  async run<Value>(
    { job, parse }: DecoderTask<Job, Value>,
    signal: AbortSignal,
  ): Promise<JobResult<Value>> {
    await this.#started
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<JobResult<unknown>>()
    // The time limit may reject it before it is awaited.
    promise.catch(() => undefined)
    this.#finishJob = resolve
    const cpuMsBefore = this.#readCpuMs()
    const timer = setTimeout(() => {
      void this.#isStarved(cpuMsBefore).then((isStarved) => {
        if (isStarved)
          reject(new AppError('busy', `No time for the ${this.#program.name}; try again soon`))
        this.kill('the job exceeded its time limit')
      })
    }, this.#limits.jobMs)
    const poll = setInterval(() => void this.#checkMemory(), MEMORY_POLL_MS)
    using _aborting = addAbortListener(signal, () => this.kill('the request was aborted'))
    try {
      await this.#checkMemory()
      if (this.ended) this.#end(null)
      else if (this.#jobs !== undefined) sendMessage(this.#jobs, job)
      const result = await promise
      signal.throwIfAborted()
      return this.#check(result, parse)
    } finally {
      clearTimeout(timer)
      clearInterval(poll)
      this.#finishJob = undefined
    }
  }

  /** Ends the process if its limit of processor time might end the next job. */
  async endIfUsedUp(): Promise<void> {
    const cpuMs = await this.#readCpuMs()
    if (cpuMs > REPLACED_AFTER * this.#limits.cpuSeconds * 1000)
      this.kill('its processor time is nearly used up')
  }

  /** Ends the process immediately; a job in progress returns `killed` with the reason. */
  kill(reason: string): void {
    this.#killReason ??= reason
    this.#child.kill('SIGKILL')
  }

  /** A pipe that does not keep the server running; undefined if the process was not created. */
  #prepare(pipe: Stream | null): Socket | undefined {
    if (!(pipe instanceof Socket)) return undefined
    pipe.on('error', () => this.kill('the process could not be reached'))
    return pipe.unref()
  }

  #waitForStart(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const fail = (cause?: unknown) =>
      reject(new AppError('failed', `The ${this.#program.name} does not start`, { cause }))
    const timer = setTimeout(() => {
      this.kill('the process did not start')
      fail()
    }, this.#limits.startMs)
    let isReady = false
    const onMessage = (message: unknown): void => {
      clearTimeout(timer)
      const reply = parseChildMessage(message)
      const finishJob = this.#finishJob
      if (reply?.status === 'ready' && !isReady) {
        isReady = true
        resolve()
      } else if (reply === undefined || reply.status === 'ready' || finishJob === undefined) {
        this.kill(MALFORMED)
      } else {
        // Another reply is not for the next job.
        this.#finishJob = undefined
        finishJob(reply)
      }
    }
    if (this.#replies === undefined) return promise
    receiveMessages(this.#replies, {
      onMessage,
      onMalformed: () => this.kill(MALFORMED),
      maxBytes: MAX_MESSAGE_BYTES,
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

  #check<Value>(
    result: JobResult<unknown>,
    parse: DecoderTask<Job, Value>['parse'],
  ): JobResult<Value> {
    if (result.status !== 'done') return result
    const value = parse(result.value)
    if (value !== undefined) return { status: 'done', value }
    this.kill(MALFORMED)
    return { status: 'killed', reason: MALFORMED }
  }

  #end(signal: NodeJS.Signals | null): void {
    this.#ended = true
    const reason = this.#killReason ?? `the decoder crashed (${signal ?? 'exit'})`
    this.#finishJob?.({ status: 'killed', reason })
  }

  /** Whether the process was short of processor time during a job. */
  async #isStarved(cpuMsBefore: Promise<number>): Promise<boolean> {
    const cpuMs = (await this.#readCpuMs()) - (await cpuMsBefore)
    return cpuMs < FAIR_SHARE * this.#limits.jobMs
  }

  /** Processor time of all threads so far; NaN without /proc. */
  async #readCpuMs(): Promise<number> {
    try {
      const stat = await readFile(`/proc/${this.#child.pid}/stat`, 'latin1')
      // Fields 14 and 15 (utime, stime) come after the parenthesised name, which may contain spaces
      // (proc(5)).
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
      if (kibibytes * 1024 > this.#limits.residentBytes)
        this.kill('the job exceeded its memory limit')
    } catch {
      // No /proc (not Linux), or the process has just ended: the time limit and the heap limit
      // remain.
    }
  }
}

/**
 * Before the process starts threads, which get the niceness of the one that starts them. Where the
 * system forbids it, the process just competes with the server.
 */
function lowerPriority(pid: number | undefined, niceness: number | undefined): void {
  if (pid === undefined || niceness === undefined) return
  try {
    setPriority(pid, niceness)
  } catch {}
}
