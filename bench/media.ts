// The recordings that benchmarks read: a minute that ffmpeg encodes and repeats in several
// containers, made once; in smoke runs, fixtures of some seconds.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import path from 'node:path'
import type { SessionReference } from '../shared/paths.ts'
import { fixturePath, RECORDED_AT } from '../test/support/temp-library.ts'
import type { BenchOptions } from './options.ts'

/** Containers; `fmp4` is an MP4 in fragments. */
export type MediaFormat = 'mp4' | 'ts' | 'fmp4' | 'mkv' | 'flv'

export interface MediaOutput {
  path: string
  format: MediaFormat
}

/** The recordings as a library: the session ids are the formats. */
export interface BenchLibrary {
  folder: string
  /** Changes with everything that the recordings depend on. */
  name: string
  outputs: MediaOutput[]
}

/** Incremented when the generated recordings change. */
const MEDIA_VERSION = 2
export const DAY = { streamer: 'bench', date: '2026-01-31' } as const
const FIXTURES: Record<MediaFormat, string> = {
  mp4: 'mp4-h264-aac-moov-first.mp4',
  fmp4: 'fmp4-h264-aac-18frag.mp4',
  ts: 'ts-h264-aac-cea608.ts',
  mkv: 'mkv-h264-aac-60s.mkv',
  flv: 'flv-h264-aac.flv',
}
const ALL_FORMATS: readonly MediaFormat[] = ['mp4', 'fmp4', 'ts', 'mkv', 'flv']

/** As hard to encode as a game stream. */
const VIDEO = 'testsrc2=s=1920x1080:r=30,noise=alls=24:allf=t'
const AUDIO = 'sine=f=330:r=48000,aformat=channel_layouts=stereo'
/** Kilobits per second by frame height; the buffer model makes the encoder respect it. */
const KILOBITS = { 1080: 6000, 360: 1000 } as const
const GOP = 'keyint=60:min-keyint=60:scenecut=0:open-gop=0:bframes=3'
/** One fragment per GOP, and nothing to write after the last one. */
const FRAGMENTS = 'frag_keyframe+empty_moov+default_base_moof+skip_trailer'

export function sessionOf(format: MediaFormat): SessionReference {
  return { ...DAY, sessionId: format }
}

/** Makes the recordings unless they exist; an interrupted run does not count as done. */
export function ensureMedia(
  options: BenchOptions,
  formats: readonly MediaFormat[] = ALL_FORMATS,
): BenchLibrary {
  const { cache, mediaSeconds, pictureHeight, isSmoke } = options
  const kinds = formats.join('-')
  const size = isSmoke ? 'smoke' : `${pictureHeight}p-${mediaSeconds}s`
  const name = `v${MEDIA_VERSION}-${size}-${kinds}`
  const folder = path.join(cache, `library-${name}`)
  const day = path.join(folder, DAY.streamer, DAY.date)
  const outputs = formats.map((format): MediaOutput => {
    const extension = format === 'fmp4' ? 'mp4' : format
    return { format, path: path.join(day, `${format}.${extension}`) }
  })
  const library = { folder, name, outputs }
  const done = path.join(folder, '.made')
  if (existsSync(done)) return library
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(day, { recursive: true })
  console.error(`Making ${mediaSeconds} s of media in ${folder} …`)
  if (isSmoke)
    for (const { format, path: file } of outputs) copyFileSync(fixturePath(FIXTURES[format]), file)
  else makeMedia(options, { folder, outputs })
  for (const output of outputs) utimesSync(output.path, RECORDED_AT, RECORDED_AT)
  mkdirSync(done)
  return library
}

/** An MP4 that is ten times as long, of smaller frames; its tables are of full size. */
export function ensureLongMp4(options: BenchOptions): string {
  if (options.isSmoke) return fixturePath('mp4-h264-aac51-moov-last-bframes.mp4')
  const mediaSeconds = options.mediaSeconds * 10
  return (
    ensureMedia({ ...options, mediaSeconds, pictureHeight: 360 }, ['mp4']).outputs[0]?.path ?? ''
  )
}

function makeMedia(
  { mediaSeconds, pictureHeight: height }: BenchOptions,
  { folder, outputs }: Omit<BenchLibrary, 'name'>,
): void {
  const minute = path.join(folder, 'minute.mp4')
  const rate = KILOBITS[height]
  const size = `,scale=${(height * 16) / 9}:${height}`
  const buffer = `bitrate=${rate}:vbv-maxrate=${rate}:vbv-bufsize=${rate}:nal-hrd=cbr:${GOP}`
  const encode = ['-f', 'lavfi', '-i', VIDEO + size, '-f', 'lavfi', '-i', AUDIO, '-t', '60']
  const video = ['-c:v', 'libx264', '-preset', 'superfast', '-pix_fmt', 'yuv420p']
  ffmpeg([...encode, ...video, '-x264-params', buffer, '-c:a', 'aac', '-b:a', '128k', minute])
  for (const { format, path: file } of outputs) {
    const repeat = ['-stream_loop', '-1', '-i', minute, '-t', `${mediaSeconds}`, '-c', 'copy']
    ffmpeg([...repeat, ...(format === 'fmp4' ? ['-movflags', FRAGMENTS] : []), file])
  }
  rmSync(minute)
}

/** Writes `index.m3u8` and segments of 6 s. */
export function segmentByFfmpeg(recording: string, folder: string): void {
  const hls = ['-f', 'hls', '-hls_time', '6', '-hls_playlist_type', 'vod']
  ffmpeg(['-i', recording, '-c', 'copy', ...hls, path.join(folder, 'index.m3u8')])
}

function ffmpeg(args: readonly string[]): void {
  const { status, error } = spawnSync('ffmpeg', ['-v', 'error', '-y', ...args], {
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0)
    throw new Error('ffmpeg (Debian: ffmpeg) could not make the media', { cause: error })
}
