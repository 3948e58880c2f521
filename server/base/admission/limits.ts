// The limits of concurrent work in one process, and the reason for each.
import { Gate } from './gate.ts'
import type { GateBounds } from './gate.ts'

const MIB = 1024 * 1024

/** More than a disk needs to catch up, less than a player's patience. */
const REQUEST_WAIT_MS = 2000

/** A sheet takes about half a second, and a visitor may wait for several of them. */
const STORYBOARD_WAIT_MS = 15_000

/** Buffer that every response with a segment holds at least (`stream/delivery/buffer-pool.ts`). */
export const MIN_RESPONSE_BYTES = 64 * 1024

/** Smaller playlists count as this: they may name a larger one. */
export const MIN_PLAYLIST_BYTES = 512 * 1024

/** The gates of one process: work begins only after its resource has admitted it. */
export type Admission = ReturnType<typeof createAdmission>

export function createAdmission() {
  return {
    /**
     * Requests that read a recording. Each holds its descriptor until the client has accepted
     * nearly all bytes: a thousand viewers on slow connections, and as many again on fast ones.
     */
    recordings: requests(2048, 512, 'too many recordings are being read'),
    /**
     * Audio files of whole sessions, and recordings as they are. A download lasts as long as its
     * client likes, so they must not use up `recordings`.
     */
    audioFiles: requests(256, 128, 'too many whole files are being sent'),
    /** Requests for files of the page, each with a descriptor: the largest has some 100 KiB. */
    assets: requests(1024, 512, 'too many files are being sent'),
    /**
     * Buffers of segments that are being sent, besides the pool: room for all of `recordings` (128
     * MiB), for `audioFiles`, and for audio that is interleaved with the video of some of them.
     */
    bytesInFlight: requests(192 * MIB, 512, 'too many segments are being sent'),
    /** Images that are being sent, each of at most 10 MiB and counted once. */
    imageBytes: requests(96 * MIB, 128, 'too many images are being sent'),
    /** Sidecar files, and chapters in containers, that are parsed, a few milliseconds at once. */
    sidecars: requests(8, 1024, 'too many sidecar files are being read'),
    /** Sessions whose thumbnail is rendered: more at once would only hold more key frames. */
    thumbnails: gate({ limit: 1, waiting: 64 }, 'too many thumbnails are being rendered'),
    /** Sheets of storyboards that are rendered, with up to 25 decoded frames each. */
    storyboards: gate(
      { limit: 1, waiting: 32, waitMs: STORYBOARD_WAIT_MS },
      'too many storyboards are being rendered',
    ),
    /** Sessions whose chat is read in the index thread, with up to about 150 MiB. */
    chats: gate({ limit: 1, waiting: 64 }, 'too many chats are being read'),
    /** Recordings in the index thread: some, because it waits for disks and stores. */
    index: gate({ limit: 8, waiting: 512 }, 'too many recordings are being indexed'),
    /** Playlists of recorders in the index thread. A byte takes about thirty once resolved. */
    playlistBytes: gate({ limit: 4 * MIB, waiting: 512 }, 'too many playlists are being read'),
    /** Segments whose audio is transcoded. Their packets are in memory, of each at most 64 MiB. */
    transcodes: gate({ limit: 3, waiting: 64 }, 'too much audio is being transcoded'),
  }
}

function requests(limit: number, waiting: number, problem: string): Gate {
  return gate({ limit, waiting, waitMs: REQUEST_WAIT_MS }, problem)
}

function gate(bounds: Omit<GateBounds, 'busyMessage'>, problem: string): Gate {
  return new Gate({ ...bounds, busyMessage: `${problem}; try again soon` })
}
