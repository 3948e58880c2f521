import { describe, expect, it } from 'vitest'
import { AUDIO_CODECS, audioCodecsIn } from './audio-codecs.ts'

describe('audioCodecsIn()', () => {
  it.each(['mp4', 'matroska', 'ts', 'descriptor', 'flv'] as const)(
    '%s: each name belongs to one codec',
    (container) => {
      const names = Object.values(AUDIO_CODECS).flatMap((row) => row[container] ?? [])
      expect(new Set<string | number>(names).size).toBe(names.length)
      for (const [codec, row] of Object.entries(AUDIO_CODECS)) {
        for (const name of row[container] ?? []) {
          expect(audioCodecsIn(container).get(name)?.codec, String(name)).toBe(codec)
        }
      }
    },
  )

  it('names what a container lists and no browser plays', () => {
    expect(audioCodecsIn('flv').get(11)).toMatchObject({ name: 'Speex' })
    expect(audioCodecsIn('flv').get(11)?.codec).toBeUndefined()
    expect(audioCodecsIn('ts').get(0x03)).toMatchObject({ codec: 'mp3', name: 'MPEG audio' })
  })
})
