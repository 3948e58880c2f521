// What growth.test.ts cannot test with all containers: programs, and audio that a table lists.
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { MadeSession, RECORDERS } from '../../../test/support/make/make-recording.ts'
import {
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from '../../../test/support/make/make-ts.ts'
import type { MediaIndex } from '../media-index.ts'
import { createTsReader } from './ts-reader.ts'

const reader = createTsReader()
const SECOND = 90_000

function indexOf(packets: Uint8Array[] = [], previous?: MediaIndex): Promise<MediaIndex> {
  return reader.index(bytesFile(joinPackets(packets)), new AbortController().signal, previous)
}

describe('growing MPEG-TS', () => {
  it('has nothing stable while a preferred program may come', async () => {
    const maker = createTsMaker()
    const radio = { type: 0x0f, pid: AUDIO_PID }
    const programs: [number, number][] = [
      [7, 0x1001],
      [1, 0x1000],
    ]
    const audio = (quarter: number) =>
      maker.pes(AUDIO_PID, { pts: SECOND + quarter * (SECOND / 4) }, adtsFrames(12, 40))
    const packets = [...maker.pat(programs), ...maker.pmt([radio], { pid: 0x1001, program: 7 })]
    for (let quarter = 0; quarter < 100; quarter += 1) packets.push(...audio(quarter))
    const early = await indexOf(packets)
    expect(early.growth?.stableSplitPoints).toBe(0)
    packets.push(...maker.pat(programs), ...maker.pmt([{ type: 0x1b, pid: VIDEO_PID }, radio]))
    for (let quarter = 100; quarter < 112; quarter += 1) {
      const pts = SECOND + quarter * (SECOND / 4)
      const frame = h264Frame(quarter % 4 === 0 ? 'key' : 'plain', 500)
      packets.push(...audio(quarter), ...maker.pes(VIDEO_PID, { pts }, frame))
    }
    const late = await indexOf(packets, early)
    expect(late.tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    expect(late.growth?.stableSplitPoints).toBe(3)
  })

  it('waits ten seconds for listed audio, and begins a section when it comes later', async () => {
    const session = new MadeSession().head()
    const addSilent = (frames: number): void => {
      for (let i = 0; i < frames; i += 1) {
        session.unit({ frame: i % 4 === 0 ? 'key' : 'plain', audio: 'none' })
      }
    }
    addSilent(40)
    const waiting = await indexOf(RECORDERS['MPEG-TS'](session))
    expect(waiting.growth?.stableSplitPoints).toBe(1)
    addSilent(20)
    const silent = await indexOf(RECORDERS['MPEG-TS'](session), waiting)
    expect(silent.growth?.stableSplitPoints).toBe(15)
    const late = await indexOf(
      RECORDERS['MPEG-TS'](session.add('gop', 'gop', 'gop', 'gop')),
      silent,
    )
    expect(late.tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    expect([...late.splitPoints.flags.subarray(14)]).toEqual([1, 3, 1, 1, 1])
  })
})
