import { expect, test } from 'vitest'
import { adviseOnReason } from './advice.ts'

const unknown = adviseOnReason('the stars are not right')

test.each([
  ['the recording ends before its index (moov box) was written', 'untrunc'],
  ['the file is empty', 'remove it'],
  ['the file has no video or sound', 'Only a head'],
  [
    'the file begins with zeros: its beginning was never written to the disk, or is lost',
    'power cut',
  ],
  ['a name in the playlist is an address on another server', 'without the playlist'],
  ['the recording ends before its first picture', 'cut off'],
  ['the video is MPEG-2, which no browser plays', 'libx264'],
  ['the video is VP8, which no browser plays in HLS', 'libx264'],
  ['the sound is AC-3, which no browser plays', '-c:a aac'],
  ['the video is encrypted', 'protected'],
  ['the file ends before byte 123', 'cut off'],
  ['the index (moov box) is compressed, which is not supported', 'Rewrite'],
  ["the file is damaged: box 'stco' at byte 12 is too short", 'disk'],
  ['time stamps break more than 4096 times', 'Split'],
])('%s', (reason, word) => {
  expect(adviseOnReason(reason)).toContain(word)
  expect(adviseOnReason(reason)).not.toBe(unknown)
})
