// The sessions that `npm run clients` plays.
import { mkdir, utimes } from 'node:fs/promises'
import path from 'node:path'
import { remux } from '../../test/support/make/remux.ts'
import { RECORDED_AT, fixturePath } from '../../test/support/temp-library.ts'
import type { TempLibrary } from '../../test/support/temp-library.ts'

export interface Session {
  form: 'ts' | 'fmp4'
  /** Several are the parts of a session. */
  fixtures: readonly string[]
  /** Once per language (ISO 639-2), in Matroska. Default as in the fixture. */
  audioLanguages?: readonly string[]
  /** Default the original. Others are sent as fMP4. */
  quality?: 'audio' | 'saver'
  /** Its name in `growingSessions`. It has no fixtures: each client has one of its own. */
  growsAs?: string
}

const TS = 'ts-h264-aac-clean-hls-concat.ts'
const SHORT_TS = 'ts-h264-aac-cea608.ts'
const SHORT_MP4 = 'mp4-h264-aac-moov-first.mp4'

/** By their ids. */
export const SESSIONS: Record<string, Session> = {
  ts: { form: 'ts', fixtures: [TS] },
  mp4: { form: 'fmp4', fixtures: ['mp4-h264-aac51-moov-last-bframes.mp4'] },
  fmp4: { form: 'fmp4', fixtures: ['fmp4-h264-aac-18frag.mp4'] },
  mkv: { form: 'fmp4', fixtures: ['mkv-h264-aac-60s.mkv'] },
  flv: { form: 'fmp4', fixtures: ['flv-h264-aac.flv'] },
  'ts-parts': { form: 'ts', fixtures: [SHORT_TS, SHORT_TS] },
  'mp4-parts': { form: 'fmp4', fixtures: [SHORT_MP4, SHORT_MP4] },
  'two-audio': { form: 'fmp4', fixtures: [TS], audioLanguages: ['eng', 'ger'] },
  'ts-audio': { form: 'fmp4', fixtures: [TS], quality: 'audio' },
  'ts-saver': { form: 'fmp4', fixtures: [TS], quality: 'saver' },
  'mkv-audio': { form: 'fmp4', fixtures: ['mkv-h264-aac-60s.mkv'], quality: 'audio' },
  'mkv-saver': { form: 'fmp4', fixtures: ['mkv-h264-aac-60s.mkv'], quality: 'saver' },
  'parts-audio': { form: 'fmp4', fixtures: [SHORT_TS, SHORT_TS], quality: 'audio' },
  'growing-audio': { form: 'fmp4', fixtures: [], growsAs: 'ts', quality: 'audio' },
  'growing-ts': { form: 'ts', fixtures: [], growsAs: 'ts' },
  'growing-mkv': { form: 'fmp4', fixtures: [], growsAs: 'mkv' },
}

/** Writes the recordings of a session; `target` is its path in the library, without extension. */
export async function placeSession(
  library: TempLibrary,
  target: string,
  { fixtures, audioLanguages }: Session,
): Promise<void> {
  if (audioLanguages !== undefined) {
    const file = library.pathOf(`${target}.mkv`)
    await mkdir(path.dirname(file), { recursive: true })
    await remux(fixturePath(fixtures[0] ?? ''), file, audioLanguages)
    await utimes(file, RECORDED_AT, RECORDED_AT)
    return
  }
  for (const [at, fixture] of fixtures.entries()) {
    const part = fixtures.length > 1 ? `/part${at + 1}` : ''
    await library.place(target + part + path.extname(fixture), fixture)
  }
}
