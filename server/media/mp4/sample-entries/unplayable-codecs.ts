// Names of video codecs that occur in MP4 and QuickTime files and that no browser plays.
import { unplayableVideoIn } from '../../codec/unplayable-video.ts'

const NAMES = unplayableVideoIn('mp4')

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
