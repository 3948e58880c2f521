// Bounds on untrusted FLV files. Times in milliseconds.

/**
 * Size of a read, and the memory it takes: of a whole file, and of a segment, of which several are
 * read at the same time.
 */
export const WINDOW_BYTES = 256 * 1024
export const SEGMENT_WINDOW_BYTES = 512 * 1024
/** A larger configuration is invalid. At most this much of a tag is parsed. */
export const MAX_CONFIG_BYTES = 64 * 1024
/** Distinct configurations of one recording, and their bytes. */
export const MAX_CONFIGS = 256
export const MAX_CONFIGS_BYTES = 1024 * 1024
/** How often corrupt bytes may look like a tag: each may cost a read. */
export const MAX_MISSES = 100_000
/** Frames that wait for a decision. */
export const MAX_PENDING = 4096
/** Nested headers (ModEx, Enhanced RTMP v2) in one tag. */
export const MAX_MOD_EX = 16
/** A larger composition offset is corrupt. */
export const MAX_COMPOSITION_MS = 10_000

/** After a second file header, a longer gap means another clock. */
export const MAX_PAUSE_AT_HEADER_MS = 1000
/** How long video waits for the audio that belongs to it, and audio for the video. */
export const OPENING_MS = 5000
export const AUDIO_WAIT_MS = 20_000
/**
 * Timestamps are rounded to milliseconds: within this, the sample count defines the time of audio.
 */
export const AUDIO_TOLERANCE_MS = 1
