// The library that the browser tests look at: real recordings under names that are easy to look for.
import { copyFile, link, mkdir, utimes } from 'node:fs/promises'
import path from 'node:path'

/** A recording of the fixtures that Chromium plays without help of the system: those with HEVC are not among them. */
export interface PlayableFixture {
  file: string
  /** Length of the served tracks in seconds, as ffprobe tells it from packets. */
  seconds: number
  /** How far the browser's idea of the length may be off; a quarter of a second where absent. */
  slackSeconds?: number
  /** `recorded` where absent. */
  audio?: 'recorded' | 'transcoded' | 'none'
  /** There where absent. */
  frames?: 'none'
  /** 30 at most where absent. */
  framesPerSecond?: 60
}

export const playableFixtures: PlayableFixture[] = [
  { file: 'mp4-h264-aac-moov-first.mp4', seconds: 5.05 },
  { file: 'mp4-h264-aac51-moov-last-bframes.mp4', seconds: 30.02 },
  { file: 'mp4-h264-aac-editlist-video-starts-1s.mp4', seconds: 10.01 },
  { file: 'mp4-h264-mp3.mp4', seconds: 9.64, audio: 'transcoded' },
  { file: 'mp4-h264-vfr.mp4', seconds: 24.46, audio: 'none' },
  { file: 'mp4-h264-two-video-two-audio-movtext.mp4', seconds: 13.18 },
  { file: 'mov-h264-aac-rotated90-audio-first.mov', seconds: 2.07 },
  { file: 'ts-h264-aac-clean-hls-concat.ts', seconds: 36 },
  { file: 'ts-h264-aac-cea608.ts', seconds: 10.12 },
  { file: 'mp4-h264-resolution-change-two-stsd.mp4', seconds: 40, audio: 'none' },
  { file: 'mp4-av1-10bit-aac-portrait.mp4', seconds: 4.24 },
  { file: 'ts-h264-aac-pts-reset-backwards.ts', seconds: 12 },
  { file: 'ts-h264-aac-pat-not-at-start.ts', seconds: 0.63 },
  // One picture a second, and B-frames: hls.js puts the first one two pictures later.
  { file: 'ts-h264-pts-wrap-33bit.ts', seconds: 20, slackSeconds: 2.1, audio: 'none' },
  { file: 'ts-ac3-51-audio-only.ts', seconds: 2.02, audio: 'transcoded', frames: 'none' },
  { file: 'mkv-h264-aac-60s.mkv', seconds: 60.02 },
  { file: 'mkv-h264-two-audio-subs-truncated.mkv', seconds: 0.38 },
  // Its pictures end after 2 s: the last one is held.
  { file: 'mkv-h264-2s-opus-27s-segment-unknown-size.mkv', seconds: 27.2, framesPerSecond: 60 },
  { file: 'flv-h264-aac.flv', seconds: 10.08 },
  { file: 'fmp4-h264-aac-18frag.mp4', seconds: 15.57 },
  { file: 'webm-vp9-opus51.webm', seconds: 1.02 },
  { file: 'webm-vp9-odd-size-161x121.webm', seconds: 1, audio: 'none' },
]

export const fixtureStreamer = 'Fixture Player'
export const fixtureDate = '2026-01-31'
/** Many streamers make a page that scrolls. */
export const crowdSize = 48

const mediaFolder = path.resolve(import.meta.dirname, '../fixtures/media')
/** Long enough ago that no recording looks as if it still grew. */
const recordedAt = new Date('2026-02-01T00:00:00Z')

/** The session id under which a fixture is found: its name without the extension. */
export function sessionIdOf(fixture: PlayableFixture): string {
  return path.parse(fixture.file).name
}

/** Lays the library out in an empty folder. */
export async function layOutLibrary(folder: string): Promise<void> {
  const sessions = path.join(folder, fixtureStreamer, fixtureDate)
  await mkdir(sessions, { recursive: true })
  for (const { file } of playableFixtures) {
    await place(path.join(mediaFolder, file), path.join(sessions, file))
  }
  // Both its tracks begin at 0: where they do not, WebKitGTK's own HLS (GStreamer) now and then stands still at the start.
  const simple = path.join(sessions, 'mp4-h264-aac-moov-first.mp4')
  for (let number = 1; number <= crowdSize; number += 1) {
    const name = `Crowd ${String(number).padStart(2, '0')}`
    await mkdir(path.join(folder, name, '2026-01-30'), { recursive: true })
    await link(simple, path.join(folder, name, '2026-01-30', '1001.mp4'))
  }
}

async function place(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  await utimes(to, recordedAt, recordedAt)
}
