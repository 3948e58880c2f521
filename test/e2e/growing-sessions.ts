// Sessions that are written while they are watched, as recorders write them: one file, several, or segments with a playlist.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { growFile } from '../support/growing-file.ts'
import { fixturePath } from '../support/temp-library.ts'

export interface GrowingSession {
  /** The session's id. */
  name: string
  /** Its length when it is whole. */
  seconds: number
  /** Writes it below the folder of its date; resolves when it is whole. */
  write(day: string): Promise<void>
}

const longTs = 'ts-h264-aac-clean-hls-concat.ts'
const shortTs = 'ts-h264-aac-cea608.ts'
const pieceCount = 9
const TS_PACKET_BYTES = 188

export const growingSessions: GrowingSession[] = [
  { name: 'ts', seconds: 36, write: file('ts', longTs) },
  { name: 'mkv', seconds: 60, write: file('mkv', 'mkv-h264-aac-60s.mkv') },
  { name: 'fmp4', seconds: 15.5, write: file('fmp4', 'fmp4-h264-aac-18frag.mp4') },
  { name: 'flv', seconds: 10, write: file('flv', 'flv-h264-aac.flv') },
  { name: 'parts', seconds: 20.2, write: writeParts },
  { name: 'segments', seconds: 36, write: writeSegments },
]

function file(name: string, fixture: string): GrowingSession['write'] {
  return async (day) => {
    const bytes = await readFile(fixturePath(fixture))
    const target = path.join(day, name + path.extname(fixture))
    await growFile(target, bytes, { startShare: 0.7, seconds: 12 })
  }
}

/** The second part appears, and grows, while the first is played. */
async function writeParts(day: string): Promise<void> {
  const bytes = await readFile(fixturePath(shortTs))
  for (const part of ['part1.ts', 'part2.ts']) {
    const target = path.join(day, 'parts', part)
    await growFile(target, bytes, { startShare: 0.7, seconds: 3 })
  }
}

/** Segments come one by one, and the playlist that names them is replaced each time. */
async function writeSegments(day: string): Promise<void> {
  const folder = path.join(day, 'segments')
  await mkdir(folder, { recursive: true })
  const bytes = await readFile(fixturePath(longTs))
  const pieceBytes = Math.ceil(bytes.length / TS_PACKET_BYTES / pieceCount) * TS_PACKET_BYTES
  const lines = ['#EXTM3U', '#EXT-X-VERSION:3', '#EXT-X-TARGETDURATION:6']
  for (let piece = 0; piece < pieceCount; piece += 1) {
    const name = `${piece}.ts`
    await writeFile(
      path.join(folder, name),
      bytes.subarray(piece * pieceBytes, (piece + 1) * pieceBytes),
    )
    lines.push(`#EXTINF:${36 / pieceCount},`, name)
    if (piece === pieceCount - 1) lines.push('#EXT-X-ENDLIST')
    await writeFile(path.join(folder, 'index.m3u8.tmp'), [...lines, ''].join('\n'))
    await rename(path.join(folder, 'index.m3u8.tmp'), path.join(folder, 'index.m3u8'))
    if (piece >= 3) await sleep(2000)
  }
}
