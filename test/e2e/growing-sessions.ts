// Sessions that grow while they are played, as recorders write them: one file, several, or segments
// with a playlist.
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { grow, growFile, settle } from '../support/growing-file.ts'
import { fixturePath } from '../support/temp-library.ts'

export interface GrowingSession {
  /** The session's id. */
  name: string
  /** Its final length. */
  seconds: number
  /**
   * Writes its first part into the folder of its date, and the rest once `played` resolves.
   * Resolves when it is finished.
   */
  write(day: string, played: Promise<unknown>): Promise<void>
}

const longTs = 'ts-h264-aac-clean-hls-concat.ts'
const shortTs = 'ts-h264-aac-cea608.ts'
const segmentCount = 18
/** Segments that exist before playback starts. */
const firstSegments = 6
const segmentPauseMs = 250
const TS_PACKET_BYTES = 188

export const growingSessions: GrowingSession[] = [
  { name: 'ts', seconds: 36, write: file('ts', longTs) },
  { name: 'mkv', seconds: 60, write: file('mkv', 'mkv-h264-aac-60s.mkv') },
  { name: 'fmp4', seconds: 15.5, write: file('fmp4', 'fmp4-h264-aac-18frag.mp4') },
  // With less no segment can be listed: its third key frame is late.
  { name: 'flv', seconds: 10, write: file('flv', 'flv-h264-aac.flv', 0.88) },
  { name: 'parts', seconds: 20.2, write: writeParts },
  segments('segments'),
]

/** Twelve seconds, and the rest in segments of two. */
export function segments(name: string): GrowingSession {
  return {
    name,
    seconds: 36,
    write: (day, played) => writeSegments(path.join(day, name), played),
  }
}

function file(name: string, fixture: string, startShare = 0.7): GrowingSession['write'] {
  return async (day, played) => {
    const bytes = await readFile(fixturePath(fixture))
    await growFile(path.join(day, name + path.extname(fixture)), bytes, { startShare, played })
  }
}

/**
 * The second part appears, and grows, while the first is played: nothing of it can be listed before
 * it is complete.
 */
async function writeParts(day: string, played: Promise<unknown>): Promise<void> {
  const bytes = await readFile(fixturePath(shortTs))
  const startShare = 0.7
  const files = ['part1', 'part2'].map((name) => path.join(day, `parts/${name}.ts`))
  for (const [nth, name] of files.entries()) {
    await grow(name, bytes, { startShare, played: nth === 0 ? Promise.resolve() : played })
  }
  // At the end: a session of settled parts alone is finished.
  for (const name of files) await settle(name)
}

/** Segments appear one by one, and the playlist that names them is replaced each time. */
async function writeSegments(folder: string, played: Promise<unknown>): Promise<void> {
  await mkdir(folder, { recursive: true })
  const bytes = await readFile(fixturePath(longTs))
  const segmentBytes = Math.ceil(bytes.length / TS_PACKET_BYTES / segmentCount) * TS_PACKET_BYTES
  const playlist = path.join(folder, 'index.m3u8')
  const lines = ['#EXTM3U', '#EXT-X-VERSION:3', '#EXT-X-TARGETDURATION:6']
  for (let segment = 0; segment < segmentCount; segment += 1) {
    if (segment === firstSegments) await played
    if (segment >= firstSegments) await sleep(segmentPauseMs)
    const name = `${segment}.ts`
    const start = segment * segmentBytes
    await writeFile(path.join(folder, name), bytes.subarray(start, start + segmentBytes))
    lines.push(`#EXTINF:${36 / segmentCount},`, name)
    if (segment === segmentCount - 1) lines.push('#EXT-X-ENDLIST')
    await writeFile(`${playlist}.tmp`, [...lines, ''].join('\n'))
    await rename(`${playlist}.tmp`, playlist)
  }
  for (const name of await readdir(folder)) await settle(path.join(folder, name))
}
