// The library of the browser tests: real recordings under names that tests can refer to.
import { copyFile, link, mkdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { remux } from '../support/make/remux.ts'

/** A fixture that every Chromium plays: those with HEVC need the operating system's decoder. */
export interface PlayableFixture {
  file: string
  /** Length of the served tracks in seconds, according to the packets that ffprobe lists. */
  seconds: number
  /** Largest error of the length in the browser; a quarter of a second where absent. */
  slackSeconds?: number
  /** `recorded` where absent. */
  audio?: 'recorded' | 'transcoded' | 'none'
  /** Video frames of the served track, according to the packets that ffprobe lists. */
  frames: number
}

export const playableFixtures: PlayableFixture[] = [
  { file: 'mp4-h264-aac-moov-first.mp4', seconds: 5.05, frames: 150 },
  { file: 'mp4-h264-aac51-moov-last-bframes.mp4', seconds: 30.02, frames: 720 },
  { file: 'mp4-h264-aac-editlist-video-starts-1s.mp4', seconds: 10.01, frames: 270 },
  { file: 'mp4-h264-mp3.mp4', seconds: 9.64, frames: 241, audio: 'transcoded' },
  { file: 'mp4-h264-vfr.mp4', seconds: 24.46, frames: 245, audio: 'none' },
  { file: 'mp4-h264-two-video-two-audio-movtext.mp4', seconds: 13.18, frames: 325 },
  { file: 'mov-h264-aac-rotated90-audio-first.mov', seconds: 2.07, frames: 62 },
  { file: 'ts-h264-aac-clean-hls-concat.ts', seconds: 36, frames: 864 },
  { file: 'ts-h264-aac-cea608.ts', seconds: 10.12, frames: 240 },
  { file: 'mp4-h264-resolution-change-two-stsd.mp4', seconds: 40, frames: 1200, audio: 'none' },
  { file: 'mp4-av1-10bit-aac-portrait.mp4', seconds: 4.24, frames: 127 },
  { file: 'ts-h264-aac-pts-reset-backwards.ts', seconds: 12, frames: 288 },
  { file: 'ts-h264-aac-pat-not-at-start.ts', seconds: 0.63, frames: 15 },
  // One frame per second, and B-frames: hls.js shifts the start by two frames.
  { file: 'ts-h264-pts-wrap-33bit.ts', seconds: 20, frames: 20, slackSeconds: 2.1, audio: 'none' },
  { file: 'ts-ac3-51-audio-only.ts', seconds: 2.02, frames: 0, audio: 'transcoded' },
  { file: 'mkv-h264-aac-60s.mkv', seconds: 60.02, frames: 300 },
  { file: 'mkv-h264-two-audio-subs-truncated.mkv', seconds: 0.38, frames: 1 },
  // Its video ends after 2 s: the last frame is shown until the end.
  { file: 'mkv-h264-2s-opus-27s-segment-unknown-size.mkv', seconds: 27.2, frames: 120 },
  { file: 'flv-h264-aac.flv', seconds: 10.08, frames: 250 },
  { file: 'fmp4-h264-aac-18frag.mp4', seconds: 15.57, frames: 932 },
  { file: 'webm-vp9-opus51.webm', seconds: 1.02, frames: 24 },
  { file: 'webm-vp9-odd-size-161x121.webm', seconds: 1, frames: 30, audio: 'none' },
]

export const fixtureStreamer = 'Fixture Player'
export const fixtureDate = '2026-01-31'
/** Streamers with one recording each: enough for a page that scrolls. */
export const crowdSize = 48

const mediaFolder = path.resolve(import.meta.dirname, '../fixtures/media')
/** Long enough ago that every recording is settled. */
const recordedAt = new Date('2026-02-01T00:00:00Z')

/** The session id of a fixture: its name without the extension. */
export function sessionIdOf(fixture: Pick<PlayableFixture, 'file'>): string {
  return path.parse(fixture.file).name
}

/** Lays the library out in an empty folder. */
export async function layOutLibrary(folder: string): Promise<void> {
  const sessions = path.join(folder, fixtureStreamer, fixtureDate)
  await mkdir(sessions, { recursive: true })
  for (const { file } of playableFixtures) {
    await place(path.join(mediaFolder, file), path.join(sessions, file))
  }
  // Both tracks start at 0: otherwise WebKitGTK's native HLS (GStreamer) sometimes stalls at the
  // start.
  const simple = path.join(sessions, 'mp4-h264-aac-moov-first.mp4')
  for (let number = 1; number <= crowdSize; number += 1) {
    const name = `Crowd ${String(number).padStart(2, '0')}`
    await mkdir(path.join(folder, name, '2026-01-30'), { recursive: true })
    await link(simple, path.join(folder, name, '2026-01-30', '1001.mp4'))
  }
  await makeLanguages(path.join(folder, languages.streamer, fixtureDate, languages.sessionId))
}

/** Audio in English and German, subtitles in German; all of it starts at 0. */
export const languages = { streamer: `Crowd ${crowdSize}`, sessionId: 'languages', seconds: 36 }

async function makeLanguages(file: string): Promise<void> {
  const source = path.join(mediaFolder, 'ts-h264-aac-clean-hls-concat.ts')
  await mkdir(path.dirname(file))
  await remux(source, `${file}.mkv`, ['eng', 'ger'])
  await writeFile(`${file}.de.srt`, '1\n00:00:00,000 --> 00:00:36,000\nGuten Abend\n')
  for (const name of [`${file}.mkv`, `${file}.de.srt`]) await utimes(name, recordedAt, recordedAt)
}

async function place(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  await utimes(to, recordedAt, recordedAt)
}
