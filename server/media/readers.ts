// Chooses the reader of a recording by its first bytes, never by its file name.
import { UnplayableError } from '../base/errors.ts'
import type { OpenFile } from '../storage/recordings/storage.ts'
import type { MediaIndex, MediaSource } from './media-index.ts'
import type { MediaReader } from './media-reader.ts'
import { createFlvReader } from './flv/flv-reader.ts'
import { createFragmentedMp4Reader } from './fmp4/fmp4-reader.ts'
import { createMatroskaReader } from './matroska/matroska-reader.ts'
import { createMp4Reader } from './mp4/mp4-reader.ts'
import { createTsReader } from './ts/ts-reader.ts'

const PROBE_BYTES = 4096
/** Box types at the start of an MP4 or MOV file (ISO/IEC 14496-12 4.3, QuickTime File Format). */
const FIRST_BOXES = new Set([
  'ftyp',
  'moov',
  'mdat',
  'free',
  'skip',
  'wide',
  'pnot',
  'styp',
  'uuid',
])
const EBML_MARK = '1a45dfa3'
/** FLV signature and version. */
const FLV_MARK = '464c5601'

/** All container readers. */
export interface MediaReaders {
  /** @throws UnplayableError for an unknown container */
  forFile(file: OpenFile): Promise<MediaReader>
  forIndex(index: MediaIndex): MediaReader
}

export function createMediaReaders(): MediaReaders {
  const byContainer = {
    flv: createFlvReader(),
    fmp4: createFragmentedMp4Reader(),
    matroska: createMatroskaReader(),
    mp4: createMp4Reader(),
    ts: createTsReader(),
  }
  return {
    async forFile(file) {
      const head = Buffer.alloc(PROBE_BYTES)
      const count = await file.read(head, 0)
      return byContainer[chooseContainer(head.subarray(0, count))]
    },
    forIndex: (index) => byContainer[index.source.container],
  }
}

/** The reader of fragmented MP4 also detects plain MP4. */
function chooseContainer(head: Buffer): MediaSource['container'] {
  if (head.length === 0) throw new UnplayableError({ code: 'file-empty' })
  if (FIRST_BOXES.has(head.toString('latin1', 4, 8))) return 'fmp4'
  const mark = head.toString('hex', 0, 4)
  if (mark === EBML_MARK) return 'matroska'
  if (mark === FLV_MARK) return 'flv'
  // MPEG-TS has no magic number and may start with garbage: its reader searches for sync bytes.
  return 'ts'
}
