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
  /** Writes its first part below the folder of its date, and the rest when it is watched; resolves when it is whole. */
  write(day: string, watched: Promise<unknown>): Promise<void>
}

const longTs = 'ts-h264-aac-clean-hls-concat.ts'
const shortTs = 'ts-h264-aac-cea608.ts'
const chunkCount = 18
/** So many pieces are there before anybody watches. */
const firstChunks = 6
const TS_PACKET_BYTES = 188

export const growingSessions: GrowingSession[] = [
  { name: 'ts', seconds: 36, write: file('ts', longTs) },
  { name: 'mkv', seconds: 60, write: file('mkv', 'mkv-h264-aac-60s.mkv') },
  { name: 'fmp4', seconds: 15.5, write: file('fmp4', 'fmp4-h264-aac-18frag.mp4') },
  // Of less nothing can be listed: its third key frame comes late.
  { name: 'flv', seconds: 10, write: file('flv', 'flv-h264-aac.flv', 0.85) },
  { name: 'parts', seconds: 20.2, write: writeParts },
  { name: 'segments', seconds: 36, write: writeSegments },
]

function file(name: string, fixture: string, startShare = 0.7): GrowingSession['write'] {
  return async (day, watched) => {
    const bytes = await readFile(fixturePath(fixture))
    const target = path.join(day, name + path.extname(fixture))
    await growFile(target, bytes, { startShare, seconds: 12, after: watched })
  }
}

/** The second part appears, and grows, while the first is played: of that nothing can be listed before it is whole. */
async function writeParts(day: string, watched: Promise<unknown>): Promise<void> {
  const bytes = await readFile(fixturePath(shortTs))
  const growing = { startShare: 0.7, seconds: 3 }
  await growFile(path.join(day, 'parts/part1.ts'), bytes, growing)
  await growFile(path.join(day, 'parts/part2.ts'), bytes, { ...growing, after: watched })
}

/** Segments come one by one, slowly until they are watched, and the playlist that names them is replaced each time. */
async function writeSegments(day: string, watched: Promise<unknown>): Promise<void> {
  const folder = path.join(day, 'segments')
  await mkdir(folder, { recursive: true })
  const bytes = await readFile(fixturePath(longTs))
  const chunkBytes = Math.ceil(bytes.length / TS_PACKET_BYTES / chunkCount) * TS_PACKET_BYTES
  const playlist = path.join(folder, 'index.m3u8')
  const lines = ['#EXTM3U', '#EXT-X-VERSION:3', '#EXT-X-TARGETDURATION:6']
  for (let chunk = 0; chunk < chunkCount; chunk += 1) {
    const name = `${chunk}.ts`
    await writeFile(
      path.join(folder, name),
      bytes.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes),
    )
    lines.push(`#EXTINF:${36 / chunkCount},`, name)
    if (chunk === chunkCount - 1) lines.push('#EXT-X-ENDLIST')
    await writeFile(`${playlist}.tmp`, [...lines, ''].join('\n'))
    await rename(`${playlist}.tmp`, playlist)
    if (chunk < firstChunks - 1) continue
    await Promise.race([watched, sleep(1500)])
    await sleep(1000)
  }
}
