// How much of an untrusted Matroska file is believed: every bound of the reader, in one place.

/** What is read at once, of a whole file, and of a segment: several are read at the same time. */
export const WINDOW_BYTES = 256 * 1024
export const SEGMENT_WINDOW_BYTES = 512 * 1024
/** EBML head, Info and Tracks are read whole; Tracks may carry set-ups with pictures of a few MB. */
export const MAX_HEAD_ELEMENT_BYTES = 8 * 1024 * 1024
/** A block larger than this is taken for damage: 8K key frames stay far below. */
export const MAX_BLOCK_BYTES = 64 * 1024 * 1024
/** What lace sizes may take in front of the frames of a block. */
export const MAX_LACE_BYTES = 96 * 1024
/** An unknown element is skipped only where what follows it can be seen to be sound; farther is not looked. */
export const MAX_UNKNOWN_BYTES = 64 * 1024
/** Tracks of one file that are looked at. */
export const MAX_TRACKS = 128
export const MAX_SUBTITLE_TRACKS = 64
/** Text cues of all tracks, their characters, and the bytes of one block of text. */
export const MAX_CUES = 200_000
export const MAX_CUE_CHARACTERS = 16 * 1024 * 1024
export const MAX_CUE_BLOCK_BYTES = 64 * 1024
/** Codec set-ups and breaks of one recording: what has more has no believable times. */
export const MAX_TRACK_SETS = 256
/** Bytes taken along with a track: its decoder set-up, and the bytes stripped from each frame. */
export const MAX_PRIVATE_BYTES = 1024 * 1024
export const MAX_STRIPPED_BYTES = 4096
export const MAX_NAME_CHARACTERS = 200
/** Pictures and sound of one segment. */
export const MAX_SEGMENT_SAMPLES = 500_000
export const MAX_GATHERED_BYTES = 64 * 1024 * 1024
