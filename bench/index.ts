// `npm run bench -- index`: the time to index a recording, compared with reading the file.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import path from 'node:path'
import { playlistApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from '../test/support/servers/hls-client.ts'
import type { Bench } from './harness.ts'
import type { IndexReport } from './index-child.ts'
import { readLoad, readPeakMebibytes } from './machine.ts'
import { ensureMedia, sessionOf } from './media.ts'
import type { BenchLibrary, MediaOutput } from './media.ts'
import { benchRecorderFolders } from './recorder-folder.ts'
import { formatTable, median } from './table.ts'

const CHILD = path.resolve(import.meta.dirname, 'index-child.ts')
/** Of the recordings; see media.ts. */
const MEGABYTES_PER_SECOND = 0.766
/** What reading any recording may take. */
const MAX_MEBIBYTES = 300

interface Round extends IndexReport {
  catSeconds: number
}

/** Three tables; it is a fault if the server took more memory than any recording may take. */
export async function benchIndex(bench: Bench): Promise<string[]> {
  const { isSmoke, megabytes, rounds } = bench.options
  const mediaSeconds = Math.ceil(megabytes / MEGABYTES_PER_SECOND)
  const full = { ...bench.options, mediaSeconds }
  const library = isSmoke ? ensureMedia(bench.options, ['mp4', 'ts']) : ensureMedia(full)
  const rows = library.outputs.map((output) => ({ output, samples: [] as Round[] }))
  for (let round = 0; round < rounds; round += 1) {
    console.error(`index: round ${round + 1} of ${rounds}, load ${readLoad().toFixed(1)}`)
    for (const { output, samples } of rows) samples.push(await measure(output))
  }
  const head = ['container', 'MB', 's/GB', 'best', 'cat s/GB', 'peak MiB', 'index kB/h']
  const table = formatTable(
    head,
    ...rows.map(({ output, samples }) => formatRow(output, samples, full.mediaSeconds)),
  )
  const peak = await measureServer(bench, library)
  if (peak > MAX_MEBIBYTES) bench.faults.push('the server took too much memory')
  return [
    ...table,
    ...benchRecorderFolders(bench),
    `A server that sent every segment of all of them held ${peak.toFixed(0)} MiB at most.`,
  ]
}

/** `cat` runs first: after it, the file is in the page cache, as far as it fits. */
async function measure({ path: file }: MediaOutput): Promise<Round> {
  const started = performance.now()
  spawnSync('cat', [file], { stdio: 'ignore' })
  const catSeconds = (performance.now() - started) / 1000
  return { ...(await indexOnce(file)), catSeconds }
}

/** Indexes a recording in its own process. Rejects if the process ends without a report. */
export async function indexOnce(recording: string): Promise<IndexReport> {
  const child = fork(CHILD, [recording])
  const exited = once(child, 'exit')
  const { promise, resolve, reject } = Promise.withResolvers<IndexReport>()
  child.once('message', (report: IndexReport) => resolve(report))
  child.once('exit', () => reject(new Error(`${recording} could not be indexed`)))
  const report = await promise
  await exited
  return report
}

/** Most memory of a server, its index thread in it, that indexed all and sent every segment. */
async function measureServer(bench: Bench, library: BenchLibrary): Promise<number> {
  const server = await bench.startNode({ recordings: library.folder })
  for (const { format } of library.outputs) {
    const { segments } = await fetchPlaylist(server.url + playlistApiPath(sessionOf(format)))
    for (const segment of segments) await fetchSegment(segment)
  }
  return readPeakMebibytes(server.pid)
}

function formatRow(
  { format, path: file }: MediaOutput,
  samples: readonly Round[],
  mediaSeconds: number,
): string[] {
  const bytes = statSync(file).size
  const values = (name: keyof Round) => samples.map((sample) => sample[name])
  const perGigabyte = (seconds: number): string => (seconds / (bytes / 1e9)).toFixed(2)
  return [
    format,
    (bytes / 1e6).toFixed(1),
    perGigabyte(median(values('seconds'))),
    perGigabyte(Math.min(...values('seconds'))),
    perGigabyte(median(values('catSeconds'))),
    Math.max(...values('peakMebibytes')).toFixed(0),
    (Math.max(...values('indexBytes')) / 1000 / (mediaSeconds / 3600)).toFixed(0),
  ]
}
