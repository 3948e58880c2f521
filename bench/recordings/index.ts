// `npm run bench -- index`: the time to index a recording, compared with reading the file.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { playlistApiPath } from '../../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from '../../test/support/servers/hls-client.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { IndexReport } from './index-child.ts'
import { describeMachine, readLoad, readPeakMebibytes } from '../machine.ts'
import { ALL_FORMATS, ensureMedia } from '../make-media.ts'
import type { BenchLibrary, MediaFormat, MediaOutput } from '../make-media.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'
import { benchRecorderFolders } from './recorder-folder.ts'

const CHILD = path.resolve(import.meta.dirname, 'index-child.ts')
/** Of the encoded frames and audio; see make-media-child.ts. */
const MEGABYTES_PER_SECOND = 0.766
/** A repeated stretch is as good as any: no reader decodes. */
const ENCODED_SECONDS = 10
/** What reading any recording may take. */
const MAX_MEBIBYTES = 300

interface Row {
  format: MediaFormat
  bytes: number
  reports: IndexReport[]
  catSeconds: number[]
}

/** Prints the table; rejects where the server took more memory than any recording may take. */
export async function benchIndex(options: BenchOptions): Promise<void> {
  const { isSmoke, megabytes, rounds } = options
  const plan: BenchOptions = isSmoke
    ? options
    : {
        ...options,
        mediaSeconds: Math.ceil(megabytes / MEGABYTES_PER_SECOND),
        encodedSeconds: ENCODED_SECONDS,
      }
  const library = await ensureMedia(plan, ALL_FORMATS)
  const rows = library.outputs.map(({ format, path: file }): Row => {
    const bytes = statSync(file).size
    return { format, bytes, reports: [], catSeconds: [] }
  })
  for (let round = 0; round < rounds; round += 1) {
    console.error(`index: round ${round + 1} of ${rounds}, load ${readLoad().toFixed(1)}`)
    for (const [at, output] of library.outputs.entries()) await measure(rows[at], output)
  }
  const table = formatRows(rows, plan.mediaSeconds)
  for (const line of [...describeMachine([]), '', ...table, '']) console.log(line)
  for (const line of [...benchRecorderFolders(rounds, isSmoke), '']) console.log(line)
  const peak = await measureServer(library)
  console.log(
    `A server that sent every segment of all of them held ${peak.toFixed(0)} MiB at most.`,
  )
  if (peak > MAX_MEBIBYTES) throw new Error('the server took too much memory')
}

/** `cat` runs first: after it, the file is in the page cache, as far as it fits. */
async function measure(row: Row | undefined, output: MediaOutput): Promise<void> {
  const started = performance.now()
  spawnSync('cat', [output.path], { stdio: 'ignore' })
  row?.catSeconds.push((performance.now() - started) / 1000)
  row?.reports.push(await indexOnce(output.path))
}

/** Indexes a recording in its own process. Rejects if the process ends without a report. */
export async function indexOnce(recording: string): Promise<IndexReport> {
  const child = fork(CHILD)
  const exited = once(child, 'exit')
  const { promise, resolve, reject } = Promise.withResolvers<IndexReport>()
  child.once('message', (report: IndexReport) => resolve(report))
  child.once('exit', () => reject(new Error(`${recording} could not be indexed`)))
  child.send(recording)
  const report = await promise
  await exited
  return report
}

/**
 * Most memory of a server, its index thread in it, that indexed all recordings and sent every
 * segment.
 */
async function measureServer(library: BenchLibrary): Promise<number> {
  const data = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-index-'))
  const server = await startServer({
    args: [library.folder, '--data', data],
    environment: { AFTERCAST_WORKERS: '1' },
  })
  try {
    for (const { format } of library.outputs) {
      const [streamer = '', date = '', sessionId = ''] = library.sessions[format].split('/')
      const url = server.url + playlistApiPath({ streamer, date, sessionId })
      const { segments } = await fetchPlaylist(url)
      for (const segment of segments) await fetchSegment(segment)
    }
    return readPeakMebibytes(server.pid)
  } finally {
    await server.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

function formatRows(rows: readonly Row[], mediaSeconds: number): string[] {
  const head = ['container', 'MB', 's/GB', 'best', 'cat s/GB', 'peak MiB', 'index kB/h']
  const cells = rows.map(({ format, bytes, reports, catSeconds }) => {
    const perGigabyte = reports.map(({ seconds }) => seconds / (bytes / 1e9))
    return [
      format,
      (bytes / 1e6).toFixed(1),
      median(perGigabyte).toFixed(2),
      Math.min(...perGigabyte).toFixed(2),
      (median(catSeconds) / (bytes / 1e9)).toFixed(2),
      Math.max(...reports.map(({ peakMebibytes }) => peakMebibytes)).toFixed(0),
      (
        Math.max(...reports.map(({ indexBytes }) => indexBytes)) /
        1000 /
        (mediaSeconds / 3600)
      ).toFixed(0),
    ]
  })
  return formatTable([head, ...cells])
}
