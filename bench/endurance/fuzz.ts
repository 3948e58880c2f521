// `npm run bench -- fuzz`: mutated copies of every fixture, many more than the tests make. Saves
// every copy that crashes, hangs or fails.
import { fork } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { FuzzJob, FuzzReport } from './fuzz-child.ts'
import { formatTable } from '../table.ts'

export interface FuzzOptions {
  /** Folder for copies that went wrong. */
  cache: string
  /** Mutated copies of all files together. */
  mutations: number
  /** Number of the first copy of each file; each number is another mutation. */
  firstCopy: number
  /** Only a few of the files. */
  isSmoke: boolean
}

const FIXTURES = path.resolve(import.meta.dirname, '../../test/fixtures/media')
const CHILD = path.resolve(import.meta.dirname, 'fuzz-child.ts')
/** Time limit of any request. */
const MAX_MS = 10_000
/** What a busy machine may take to start a process. */
const MAX_START_MS = 60_000
/** What reading any file may take. */
const MAX_RESIDENT_BYTES = 300 * 1024 * 1024
const JOB_COPIES = 500
const SMOKE_FILES = 4

interface Row {
  name: string
  read: number
  refused: number
  bad: number
  slowestMs: number
  residentBytes: number
}

/** Prints a table of all files; rejects where any copy went wrong. */
export async function benchFuzz(options: FuzzOptions): Promise<void> {
  const { cache, mutations, firstCopy } = options
  const kept = path.join(cache, 'fuzz')
  mkdirSync(kept, { recursive: true })
  const all = readdirSync(FIXTURES).filter((name) => !name.endsWith('.md'))
  const names = options.isSmoke ? all.slice(0, SMOKE_FILES) : all
  const end = firstCopy + Math.ceil(mutations / names.length)
  const rows = names.map((name): Row => {
    return { name, read: 0, refused: 0, bad: 0, slowestMs: 0, residentBytes: 0 }
  })
  const jobs = rows.flatMap((row) =>
    Array.from({ length: Math.ceil((end - firstCopy) / JOB_COPIES) }, (_, i) => {
      const from = firstCopy + i * JOB_COPIES
      return { row, from, to: Math.min(from + JOB_COPIES, end) }
    }),
  )
  const lanes = Array.from({ length: availableParallelism() }, async (_, lane) => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      await runJob(job.row, { ...job, kept, lane })
    }
  })
  await Promise.all(lanes)
  print(rows)
  const bad = rows.reduce((sum, row) => sum + row.bad, 0)
  if (bad > 0) throw new Error(`${bad} copies failed; they are stored in ${kept}`)
}

interface JobOptions {
  from: number
  to: number
  kept: string
  lane: number
}

/** A process that ends or hangs is one bad copy; a new process continues with the next copy. */
async function runJob(row: Row, { from, to, kept, lane }: JobOptions): Promise<void> {
  for (let next = from; next < to;) {
    next = await runChild(row, { from: next, to, kept, lane })
  }
}

/** Returns the number of the next copy. */
async function runChild(row: Row, { from, to, kept, lane }: JobOptions): Promise<number> {
  const copyPath = path.join(kept, `under-way-${process.pid}-${lane}`)
  const keep = (copy: number, why: string): void => {
    row.bad += 1
    const target = path.join(kept, `${copy}-${row.name}`)
    copyFileSync(copyPath, target)
    console.error(`${target}: ${why}`)
  }
  const child = fork(CHILD, { execArgv: ['--max-old-space-size=256'] })
  const job: FuzzJob = { path: path.join(FIXTURES, row.name), from, to, copyPath }
  child.send(job)
  return new Promise((resolve) => {
    let copy = from
    let isDone = false
    const killIn = (ms: number) => setTimeout(() => child.kill('SIGKILL'), ms)
    let hang = killIn(MAX_START_MS)
    child.on('message', (report: FuzzReport) => {
      clearTimeout(hang)
      hang = killIn(MAX_MS)
      if (report.kind === 'started') return
      if (report.kind === 'done') {
        isDone = true
        child.disconnect()
        return
      }
      if (report.kind === 'failure') keep(copy, report.message)
      else count(row, report, () => keep(copy, 'it took too much memory'))
      copy += 1
      child.send('continue')
    })
    child.once('exit', (code, signal) => {
      clearTimeout(hang)
      if (!isDone) keep(copy, `the process ended (${signal ?? code}), or hung`)
      resolve(isDone ? to : copy + 1)
    })
  })
}

function count(
  row: Row,
  report: Extract<FuzzReport, { kind: 'copy' }>,
  tooLarge: () => void,
): void {
  row[report.outcome] += 1
  row.slowestMs = Math.max(row.slowestMs, report.ms)
  row.residentBytes = Math.max(row.residentBytes, report.residentBytes)
  if (report.residentBytes > MAX_RESIDENT_BYTES) tooLarge()
}

function print(rows: readonly Row[]): void {
  const head = ['file', 'copies', 'read', 'refused', 'bad', 'slowest ms', 'RSS MB']
  const cells = rows.map(({ name, read, refused, bad, slowestMs, residentBytes }) => [
    name,
    ...[read + refused + bad, read, refused, bad, slowestMs, residentBytes / 1e6].map((value) =>
      value.toFixed(0),
    ),
  ])
  console.log(formatTable([head, ...cells]).join('\n'))
}
