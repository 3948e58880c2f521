// A library with everything that a session may be: all fixtures, folders of parts and of a
// recorder, and files next to a recording.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { fixturePath } from '../temp-library.ts'
import type { TempLibrary } from '../temp-library.ts'

const DAY = '2026-01-31'
const TS = 'ts-h264-aac-cea608.ts'
const OTHER_TS = 'ts-h264-aac-clean-hls-concat.ts'
const CHAPTERS = 'WEBVTT\n\n00:01.000 --> 00:02.000\nGreeting\n'
const SUBTITLES = '1\n00:00:01,000 --> 00:00:02,000\nHello\n'

/** How many sessions of each streamer are listed. */
export const WHOLE_LIBRARY = { fixtures: 26, folders: 2, sidecars: 1 }

/** Places the recordings in a library. */
export async function placeWholeLibrary(library: TempLibrary): Promise<void> {
  const names = readdirSync(path.dirname(fixturePath(TS))).filter((name) => name !== 'README.md')
  for (const name of names) await library.place(`fixtures/${DAY}/${name}`, name)
  await library.place(`folders/${DAY}/parts/part1.ts`, TS)
  await library.place(`folders/${DAY}/parts/part2.ts`, OTHER_TS)
  await library.place(`folders/${DAY}/recorder/a.ts`, TS)
  await library.place(`folders/${DAY}/recorder/b.ts`, OTHER_TS)
  const lines = ['#EXTINF:6,', 'a.ts', '#EXT-X-DISCONTINUITY', '#EXTINF:6,', 'b.ts']
  await library.place(`folders/${DAY}/recorder/index.m3u8`, formatRecordedPlaylist(lines))
  await library.place(`sidecars/${DAY}/1.ts`, TS)
  await library.place(`sidecars/${DAY}/1.srt`, Buffer.from(SUBTITLES))
  await library.place(`sidecars/${DAY}/1.info.json`, Buffer.from('{"title":"One"}'))
  await library.place(`sidecars/${DAY}/1.chapters.vtt`, Buffer.from(CHAPTERS))
  await library.place('sidecars/streamer.json', Buffer.from('{"displayName":"Sidecars"}'))
  await library.place(`sidecars/${DAY}/1.jpg`, Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]))
}

/** A recorder's playlist with these lines, without an end. */
export function formatRecordedPlaylist(lines: readonly string[]): Buffer {
  return Buffer.from(['#EXTM3U', '#EXT-X-TARGETDURATION:60', ...lines, ''].join('\n'))
}
