// The rows of `npm run bench -- index` for recorders' folders: many segments, with a discontinuity
// after each minute.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { splitPackets } from '../test/support/make/split-packets.ts'
import { fixturePath, RECORDED_AT } from '../test/support/temp-library.ts'
import type { Bench } from './harness.ts'
import { formatTable, median } from './table.ts'

const MAIN = path.resolve(import.meta.dirname, '../server/main.ts')
const FIXTURE = 'ts-h264-pts-wrap-33bit.ts'
const SEGMENTS_PER_RUN = 30
const SEGMENT_COUNTS = [1000, 4000, 18_000]
const SMOKE_COUNTS = [60]

/** A table of the seconds that `scan` takes, its start included. */
export function benchRecorderFolders({ options, scratch }: Bench): string[] {
  const rows = (options.isSmoke ? SMOKE_COUNTS : SEGMENT_COUNTS).map((count) => {
    const root = path.join(scratch, `folder-${count}`)
    makeFolder(path.join(root, 'library/alice/2026-01-31/day'), count)
    const seconds = median(Array.from({ length: options.rounds }, () => scanOnce(root)))
    rmSync(root, { recursive: true, force: true })
    return [`${count}`, seconds.toFixed(2), ((seconds / count) * 1000).toFixed(2)]
  })
  return formatTable(['segments', 's', 'ms/segment'], ...rows)
}

function makeFolder(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true })
  const segments = splitPackets(readFileSync(fixturePath(FIXTURE)), SEGMENTS_PER_RUN)
  const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:2']
  const write = (name: string, content: string | Uint8Array): void => {
    const file = path.join(folder, name)
    writeFileSync(file, content)
    utimesSync(file, RECORDED_AT, RECORDED_AT)
  }
  for (let i = 0; i < count; i += 1) {
    const inRun = i % SEGMENTS_PER_RUN
    if (i > 0 && inRun === 0) lines.push('#EXT-X-DISCONTINUITY')
    lines.push('#EXTINF:2,', `${i}.ts`)
    write(`${i}.ts`, segments[inRun] ?? '')
  }
  write('playlist.m3u8', [...lines, '#EXT-X-ENDLIST', ''].join('\n'))
}

function scanOnce(root: string): number {
  const data = path.join(root, 'data')
  rmSync(data, { recursive: true, force: true })
  const started = performance.now()
  const args = [MAIN, 'scan', path.join(root, 'library'), '--data', data]
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`aftercast scan of ${root} failed`)
  return (performance.now() - started) / 1000
}
