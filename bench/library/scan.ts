// `npm run bench -- scan`: the time to scan a very large library, compared with `find`.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { CATALOG_FILE } from '../../server/app/library.ts'
import { describeMachine, hasProgram, readEndedChildrenSeconds, readLoad } from '../machine.ts'
import { ensureIndexes, ensureTree } from './make-tree.ts'
import type { TreeSize } from './make-tree.ts'
import type { BenchOptions } from '../options.ts'
import type { ScanOrder, ScanReport } from './scan-child.ts'
import { formatTable, median } from '../table.ts'

const CHILD = path.resolve(import.meta.dirname, 'scan-child.ts')
/** A hundred thousand recordings. */
const FULL: TreeSize = { streamers: 100, dates: 20, files: 50 }
const SMOKE: TreeSize = { streamers: 3, dates: 2, files: 5 }

interface Figure {
  seconds: number
  cpuSeconds: number
}

interface Round {
  find: Figure
  first: ScanReport
  again: ScanReport
}

/** Prints the table. */
export async function benchScan(options: BenchOptions): Promise<void> {
  const size = options.isSmoke ? SMOKE : FULL
  const count = size.streamers * size.dates * size.files
  const folder = path.join(options.cache, `tree-${count}`)
  const data = path.join(options.cache, `tree-${count}-data`)
  ensureTree(folder, size)
  await ensureIndexes(path.join(data, 'indexes'), { folder, size })
  if (!hasProgram('find')) throw new Error('find (Debian: findutils) is missing')
  const rounds: Round[] = []
  for (let round = 0; round < options.rounds; round += 1) {
    console.error(`scan: round ${round + 1} of ${options.rounds}, load ${readLoad().toFixed(1)}`)
    rounds.push(await measureRound({ recordings: folder, data }, count))
  }
  for (const line of [...describeMachine([]), '', ...formatRounds(rounds)]) console.log(line)
}

/** From no catalog at all to one that is complete, and once more without a change. */
async function measureRound(order: ScanOrder, count: number): Promise<Round> {
  for (const ending of ['', '-wal', '-shm']) {
    rmSync(path.join(order.data, `${CATALOG_FILE}${ending}`), { force: true })
  }
  const find = measureFind(order.recordings)
  const first = await scanOnce(order)
  const again = await scanOnce(order)
  for (const { found } of [first, again]) {
    if (found !== count) throw new Error(`${found} recordings were found instead of ${count}`)
  }
  return { find, first, again }
}

function measureFind(folder: string): Figure {
  const cpuBefore = readEndedChildrenSeconds()
  const startedMs = performance.now()
  const { status } = spawnSync('find', [folder, '-type', 'f', '-printf', '%s %T@\\n'], {
    stdio: 'ignore',
  })
  const seconds = (performance.now() - startedMs) / 1000
  if (status !== 0) throw new Error('find failed')
  return { seconds, cpuSeconds: readEndedChildrenSeconds() - cpuBefore }
}

async function scanOnce(order: ScanOrder): Promise<ScanReport> {
  const child = fork(CHILD)
  const exited = once(child, 'exit')
  const { promise, resolve, reject } = Promise.withResolvers<ScanReport>()
  child.once('message', (report: ScanReport) => resolve(report))
  child.once('exit', () => reject(new Error('the library could not be scanned')))
  child.send(order)
  const report = await promise
  await exited
  return report
}

function formatRounds(rounds: readonly Round[]): string[] {
  const finds = rounds.map(({ find }) => find)
  const rows: [string, Figure[], number | undefined][] = [
    ['find', finds, undefined],
    ['first walk: all are listed', rounds.map(({ first }) => first.walk), peak(rounds, 'first')],
    ['first scan: all are indexed', rounds.map(({ first }) => first.whole), peak(rounds, 'first')],
    ['unchanged', rounds.map(({ again }) => again.whole), peak(rounds, 'again')],
  ]
  const head = ['what', 's', 'beside find', 'CPU s', 'CPU beside find', 'peak MiB']
  const cells = rows.map(([name, figures, peakMebibytes]) => [
    name,
    median(figures.map(({ seconds }) => seconds)).toFixed(2),
    `${ratio(figures, finds, 'seconds').toFixed(1)}x`,
    median(figures.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2),
    `${ratio(figures, finds, 'cpuSeconds').toFixed(1)}x`,
    peakMebibytes?.toFixed(0) ?? '',
  ])
  return formatTable([head, ...cells])
}

function peak(rounds: readonly Round[], which: 'first' | 'again'): number {
  return Math.max(...rounds.map((round) => round[which].peakMebibytes))
}

function ratio(ours: readonly Figure[], theirs: readonly Figure[], key: keyof Figure): number {
  return median(ours.map((figure) => figure[key])) / median(theirs.map((figure) => figure[key]))
}
