// Parses an fMP4 segment box by box (ISO/IEC 14496-12 8.8), like a player: samples, times and
// bytes.

export interface FragmentSample {
  trackId: number
  decodeTicks: number
  durationTicks: number
  compositionTicks: number
  isKey: boolean
  /** Number of its trun among those of all tracks. */
  trun: number
  /** Position in the segment. */
  position: number
  bytes: Buffer
}

export interface ReadFragment {
  samples: FragmentSample[]
  truns: number
  /** Of the moof, and of the mdat without its header. */
  moofBytes: number
  dataBytes: number
}

/** Samples in the order of the trafs. Throws unless the segment is exactly a moof and an mdat. */
export function readFragment(segment: Buffer): ReadFragment {
  const [moof, mdat, ...rest] = boxesOf(segment)
  if (moof?.type !== 'moof' || mdat?.type !== 'mdat' || rest.length > 0) {
    throw new Error('the segment is not one moof and one mdat')
  }
  const samples: FragmentSample[] = []
  let truns = 0
  for (const traf of boxesOf(moof.body).filter(({ type }) => type === 'traf')) {
    const [tfhd, tfdt, ...runs] = boxesOf(traf.body).map(({ body }) => body)
    if (tfhd === undefined || tfdt === undefined) throw new Error('a traf lacks its headers')
    const track = readTfhd(tfhd)
    let decodeTicks = Number(tfdt.readBigUInt64BE(4))
    for (const run of runs) {
      decodeTicks = readTrun(run, { ...track, segment, samples, trun: truns, decodeTicks })
      truns += 1
    }
  }
  return { samples, truns, moofBytes: moof.body.length + 8, dataBytes: mdat.body.length }
}

function boxesOf(bytes: Buffer): { type: string; body: Buffer }[] {
  const boxes: { type: string; body: Buffer }[] = []
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
    const end = at + bytes.readUInt32BE(at)
    if (end > bytes.length || end < at + 8) throw new Error('a box is not where it ends')
    boxes.push({
      type: bytes.toString('latin1', at + 4, at + 8),
      body: bytes.subarray(at + 8, end),
    })
  }
  return boxes
}

/** Fields in the order of the flags: duration 0x8, sample flags 0x20; base is the moof. */
function readTfhd(tfhd: Buffer): { trackId: number; duration: number } {
  const flags = tfhd.readUInt32BE(0)
  if ((flags & 0x13) !== 0 || (flags & 0x20000) === 0) throw new Error('a tfhd of another form')
  return { trackId: tfhd.readUInt32BE(4), duration: flags & 0x8 ? tfhd.readUInt32BE(8) : 0 }
}

interface TrunContext {
  segment: Buffer
  samples: FragmentSample[]
  trackId: number
  duration: number
  trun: number
  decodeTicks: number
}

/** Adds the samples, and returns the next decode time. */
function readTrun(run: Buffer, context: TrunContext): number {
  const { segment, samples, trackId, trun } = context
  let at = 0
  const word = (): number => run.readUInt32BE((at += 4) - 4)
  const flags = word()
  const count = word()
  let position = flags & 0x1 ? word() : NaN
  const firstFlags = flags & 0x4 ? word() : 0
  let { decodeTicks } = context
  for (let i = 0; i < count; i += 1) {
    const durationTicks = flags & 0x100 ? word() : context.duration
    const sizeBytes = word()
    const compositionTicks = flags & 0x800 ? word() | 0 : 0
    const bytes = segment.subarray(position, position + sizeBytes)
    if (bytes.length !== sizeBytes) throw new Error('a sample is outside of the segment')
    const isKey = i === 0 && (firstFlags & 0x10000) === 0
    const times = { decodeTicks, durationTicks, compositionTicks }
    samples.push({ trackId, ...times, isKey, trun, position, bytes })
    position += sizeBytes
    decodeTicks += durationTicks
  }
  return decodeTicks
}
