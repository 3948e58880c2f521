// Names of video codecs that occur in MP4 and QuickTime files and that no browser plays.

const NAMES = new Map<string, string>([
  ['mp4v', 'MPEG-4 Visual'],
  ['s263', 'H.263'],
  ['h263', 'H.263'],
  ['jpeg', 'Motion JPEG'],
  ['mjpa', 'Motion JPEG'],
  ['mjpb', 'Motion JPEG'],
  ['png ', 'PNG'],
  ['SVQ1', 'Sorenson Video'],
  ['SVQ3', 'Sorenson Video 3'],
  ['rle ', 'QuickTime Animation'],
  ['cvid', 'Cinepak'],
  ['raw ', 'uncompressed'],
  ['2vuy', 'uncompressed'],
  ['v210', 'uncompressed'],
  ['AVdn', 'DNxHD'],
  ['AVdh', 'DNxHR'],
  ['CFHD', 'CineForm'],
  ['vp08', 'VP8 in MP4'],
  ['vvc1', 'VVC'],
  ['vvi1', 'VVC'],
  ['dvh1', 'Dolby Vision without a base layer'],
  ['dvhe', 'Dolby Vision without a base layer'],
  ['m2v1', 'MPEG-2'],
])

/**
 * Codecs of an `mp4v` entry other than MPEG-4 Visual, by the object type of its esds box (MP4
 * registration authority).
 */
const OBJECT_TYPES: readonly (readonly [from: number, to: number, name: string])[] = [
  [0x60, 0x65, 'MPEG-2'],
  [0x6a, 0x6a, 'MPEG-1'],
  [0x6c, 0x6c, 'Motion JPEG'],
  [0x6d, 0x6d, 'PNG'],
]

const FAMILIES: readonly (readonly [prefix: string, name: string])[] = [
  ['ap', 'Apple ProRes'],
  ['dv', 'DV'],
  ['hdv', 'MPEG-2 (HDV)'],
  ['xdv', 'MPEG-2 (XDCAM)'],
  ['xd5', 'MPEG-2 (XDCAM)'],
  ['mx', 'MPEG-2 (IMX)'],
]

/**
 * Name of a codec by its four-character code and, if present, the object type of its esds box; an
 * unknown codec is named by its code.
 */
export function videoCodecName(type: string, objectType?: number): string {
  if (type === 'mp4v' && objectType !== undefined) {
    const [, , name] =
      OBJECT_TYPES.find(([from, to]) => objectType >= from && objectType <= to) ?? []
    if (name !== undefined) return name
  }
  const family = FAMILIES.find(([prefix]) => type.startsWith(prefix))
  return NAMES.get(type) ?? family?.[1] ?? type
}
