// Corrupts copies of recordings like disks, networks and attackers do, the same on every run for a
// seed.

/** Pseudo-random numbers below a bound, the same on every run (mulberry32). */
export type Random = (below: number) => number

export function createRandom(seed: number): Random {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d_2b_79_f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) % below
  }
}

/** Bytes at boundaries of parsers: range ends, signs, unknown sizes, start codes, sync bytes. */
const BOUNDARY_BYTES = [0x00, 0x01, 0x02, 0x3f, 0x40, 0x47, 0x7f, 0x80, 0xfe, 0xff]
const BOUNDARY_WORDS = [0, 1, 7, 8, 0x7f_ff_ff_ff, 0x80_00_00_00, 0xff_ff_ff_fe, 0xff_ff_ff_ff]
/** Where headers and tables are: half of all mutations are in the first bytes, some at the end. */
const HEAD_BYTES = 16 * 1024
const TAIL_BYTES = 4 * 1024

type Mutation = (bytes: Buffer, at: number, random: Random) => Buffer

const mutations: readonly Mutation[] = [
  setByte,
  setByte,
  setByte,
  flipBit,
  setWord,
  setWord,
  zeroRun,
  removeRun,
  repeatRun,
  (bytes, at) => bytes.subarray(0, at),
]

/** A copy of the recording with one to four mutations. */
export function corrupt(original: Uint8Array, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(original)
  const count = 1 + random(4)
  for (let number = 0; number < count && bytes.length > 8; number += 1) {
    const mutate = mutations[random(mutations.length)] ?? setByte
    bytes = mutate(bytes, choosePosition(bytes.length, random), random)
  }
  return bytes
}

function choosePosition(length: number, random: Random): number {
  const where = random(8)
  if (where < 4) return random(Math.min(length, HEAD_BYTES))
  if (where === 4) return length - 1 - random(Math.min(length, TAIL_BYTES))
  return random(length)
}

function setByte(bytes: Buffer, at: number, random: Random): Buffer {
  const isBoundary = random(2) === 0
  bytes[at] = isBoundary ? (BOUNDARY_BYTES[random(BOUNDARY_BYTES.length)] ?? 0) : random(256)
  return bytes
}

function flipBit(bytes: Buffer, at: number, random: Random): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
  return bytes
}

/** A wrong 32-bit size or count. */
function setWord(bytes: Buffer, at: number, random: Random): Buffer {
  const word = BOUNDARY_WORDS[random(BOUNDARY_WORDS.length)] ?? 0
  bytes.writeUInt32BE(word, Math.min(at, bytes.length - 4))
  return bytes
}

function zeroRun(bytes: Buffer, at: number, random: Random): Buffer {
  return bytes.fill(0, at, Math.min(at + 1 + random(4096), bytes.length))
}

function removeRun(bytes: Buffer, at: number, random: Random): Buffer {
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(1024))])
}

function repeatRun(bytes: Buffer, at: number, random: Random): Buffer {
  const end = at + 1 + random(1024)
  return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
}
