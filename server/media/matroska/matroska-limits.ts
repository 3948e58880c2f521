// All limits of the Matroska reader for untrusted files.

/** Read sizes for a whole file and for a segment; several segments are read concurrently. */
export const WINDOW_BYTES = 256 * 1024
export const SEGMENT_WINDOW_BYTES = 512 * 1024
/**
 * EBML header, Info and Tracks are read completely; Tracks may have codec configurations with
 * images of a few MB.
 */
export const MAX_HEADER_ELEMENT_BYTES = 8 * 1024 * 1024
/** A larger block is corrupt: 8K key frames are far smaller. */
export const MAX_BLOCK_BYTES = 64 * 1024 * 1024
/** Size of the lace before the frames of a block. */
export const MAX_LACE_BYTES = 96 * 1024
/** An unknown element is skipped only up to this size, so that the next element can be checked. */
export const MAX_UNKNOWN_BYTES = 64 * 1024
/** Tracks of one file. */
export const MAX_TRACKS = 128
export const MAX_SUBTITLE_TRACKS = 64
/** Subtitle cues of all tracks, their characters, and the size of one subtitle block. */
export const MAX_CUES = 200_000
export const MAX_CUE_CHARACTERS = 16 * 1024 * 1024
export const MAX_CUE_BLOCK_BYTES = 64 * 1024
/** Changes of the tracks in one recording. */
export const MAX_TRACK_SETS = 256
/** Bytes stored per track: its codec configuration, and the prefix stripped from each frame. */
export const MAX_PRIVATE_BYTES = 1024 * 1024
export const MAX_STRIPPED_BYTES = 4096
export const MAX_NAME_CHARACTERS = 200
/** Bytes of one segment that are in memory. */
export const MAX_GATHERED_BYTES = 64 * 1024 * 1024
