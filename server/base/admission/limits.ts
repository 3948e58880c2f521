// The limits of concurrent work in one process, and the reason for each.
import { Gate } from './gate.ts'
import type { GateBounds } from './gate.ts'

const MIB = 1024 * 1024

/** What requests wait for: more than a disk needs to catch up, less than a player's patience. */
const REQUEST_WAIT_MS = 2000

/** A sheet takes about half a second, and a visitor may wait for several of them. */
const STORYBOARD_WAIT_MS = 15_000

/**
 * Requests that read a recording. Each holds its descriptor until the client has accepted nearly
 * all bytes: a thousand viewers on slow connections, and as many again on fast ones.
 */
const RECORDINGS: GateBounds = {
  limit: 2048,
  waiting: 512,
  waitMs: REQUEST_WAIT_MS,
  busyMessage: 'too many recordings are being read; try again soon',
}

/**
 * Audio files of whole sessions. A download lasts as long as its client likes, so they must not use
 * up RECORDINGS.
 */
const AUDIO_FILES: GateBounds = {
  limit: 256,
  waiting: 128,
  waitMs: REQUEST_WAIT_MS,
  busyMessage: 'too many audio files are being sent; try again soon',
}

/** Buffer that every response with a segment holds at least (`stream/delivery/buffer-pool.ts`). */
export const MIN_RESPONSE_BYTES = 64 * 1024

/**
 * Buffers of segments that are being sent, besides the pool: room for all of RECORDINGS (128 MiB),
 * for AUDIO_FILES, and for audio that is interleaved with the video of some of them.
 */
const BYTES_IN_FLIGHT: GateBounds = {
  limit: 192 * MIB,
  waiting: 512,
  waitMs: REQUEST_WAIT_MS,
  busyMessage: 'too many segments are being sent; try again soon',
}

/** Requests for files of the page, each with a descriptor: the largest has a few hundred KiB. */
const ASSETS: GateBounds = {
  limit: 1024,
  waiting: 512,
  waitMs: REQUEST_WAIT_MS,
  busyMessage: 'too many files are being sent; try again soon',
}

/** Images that are being sent, each of at most 10 MiB and counted once. */
const IMAGE_BYTES: GateBounds = {
  limit: 96 * MIB,
  waiting: 128,
  waitMs: REQUEST_WAIT_MS,
  busyMessage: 'too many images are being sent; try again soon',
}

/** Sidecar files, and chapters in containers, that are being parsed, a few milliseconds at once. */
const SIDECARS: GateBounds = {
  limit: 8,
  waiting: 1024,
  waitMs: REQUEST_WAIT_MS,
  busyMessage: 'too many sidecar files are being read; try again soon',
}

/** Sessions whose thumbnail is rendered: more at once would only hold more key frames. */
const THUMBNAILS: GateBounds = {
  limit: 1,
  waiting: 64,
  busyMessage: 'too many thumbnails are being rendered; try again soon',
}

/** Sheets of storyboards that are rendered, with up to 25 decoded frames each. */
const STORYBOARDS: GateBounds = {
  limit: 1,
  waiting: 32,
  waitMs: STORYBOARD_WAIT_MS,
  busyMessage: 'too many storyboards are being rendered; try again soon',
}

/** Sessions whose chat is read in the index thread, with up to about 150 MiB. */
const CHATS: GateBounds = {
  limit: 1,
  waiting: 64,
  busyMessage: 'too many chats are being read; try again soon',
}

/** Recordings in the index thread: some, because it waits for disks and stores. */
const INDEX: GateBounds = {
  limit: 8,
  waiting: 512,
  busyMessage: 'too many recordings are being indexed; try again soon',
}

/** Smaller playlists count as this: they may name a larger one. */
export const MIN_PLAYLIST_BYTES = 512 * 1024

/** Playlists of recorders in the index thread. Parsed and resolved, a byte takes about thirty. */
const PLAYLIST_BYTES: GateBounds = {
  limit: 4 * MIB,
  waiting: 512,
  busyMessage: 'too many playlists are being read; try again soon',
}

/** Segments whose audio is transcoded. Their packets are in memory, of each at most 64 MiB. */
const TRANSCODES: GateBounds = {
  limit: 3,
  waiting: 64,
  busyMessage: 'too much audio is being transcoded; try again soon',
}

/** The gates of one process: work begins only after its resource has admitted it. */
export interface Admission {
  recordings: Gate
  audioFiles: Gate
  assets: Gate
  bytesInFlight: Gate
  imageBytes: Gate
  sidecars: Gate
  thumbnails: Gate
  storyboards: Gate
  chats: Gate
  index: Gate
  playlistBytes: Gate
  transcodes: Gate
}

export function createAdmission(): Admission {
  return {
    recordings: new Gate(RECORDINGS),
    audioFiles: new Gate(AUDIO_FILES),
    assets: new Gate(ASSETS),
    bytesInFlight: new Gate(BYTES_IN_FLIGHT),
    imageBytes: new Gate(IMAGE_BYTES),
    sidecars: new Gate(SIDECARS),
    thumbnails: new Gate(THUMBNAILS),
    storyboards: new Gate(STORYBOARDS),
    chats: new Gate(CHATS),
    index: new Gate(INDEX),
    playlistBytes: new Gate(PLAYLIST_BYTES),
    transcodes: new Gate(TRANSCODES),
  }
}
