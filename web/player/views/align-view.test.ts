import { expect, test } from 'vitest'
import { alignView } from './align-view.ts'

const playing = { targetSeconds: 100, isPlaying: true, rate: 1, isHeard: false, seekSeconds: 0.5 }

test.each<[name: string, seconds: number, change: object, expected: object]>([
  ['0.03 s are not corrected', 100.03, {}, { rate: 1 }],
  ['it slows down', 100.1, {}, { rate: 0.9 }],
  ['it speeds up', 99.9, {}, { rate: 1.1 }],
  ['at most by a fifth', 99.2, {}, { rate: 1.2 }],
  ['less where it is heard', 99.2, { isHeard: true }, { rate: 1.05 }],
  ['also at twice the speed', 99.2, { rate: 2 }, { rate: 2.4 }],
  ['more than a second is a seek, to where the other one will be', 98.9, {}, { seekTo: 100.5 }],
  ['which is further at twice the speed', 102, { rate: 2 }, { seekTo: 101 }],
  ['while both are paused, it is exact', 100.1, { isPlaying: false }, { seekTo: 100 }],
  ['and stays', 100.02, { isPlaying: false }, { rate: 1 }],
])('%s', (_, ...[seconds, change, expected]) => {
  const next = alignView({ ...playing, ...change, seconds })
  const rounded = Object.entries(next).map(([key, value]) => [key, Number(value.toFixed(6))])
  expect(Object.fromEntries(rounded)).toEqual(expected)
})
