// How much of an untrusted FLV file is believed: every bound of the reader, in one place. Times in milliseconds.

/** Most that is read at once, and the memory that reading takes: of a whole file, and of a segment, of which several are read at the same time. */
export const WINDOW_BYTES = 256 * 1024
export const SEGMENT_WINDOW_BYTES = 512 * 1024
/** Decoder set-ups larger than this are none; the part of a tag that is looked at. */
export const MAX_CONFIG_BYTES = 64 * 1024
/** Set-ups of one recording that differ, and their bytes. */
export const MAX_CONFIGS = 256
export const MAX_CONFIGS_BYTES = 1024 * 1024
/** So often may damaged bytes look like a tag: each may cost a read. */
export const MAX_MISSES = 100_000
/** Samples of one track in one segment: hours without a key frame. */
export const MAX_SEGMENT_SAMPLES = 500_000
/** Frames that wait for a decision. */
export const MAX_PENDING = 4096
/** Headers in front of headers (ModEx, Enhanced RTMP v2) in one tag. */
export const MAX_MOD_EX = 16
/** Pictures that are shown further than this from where they are decoded have broken times. */
export const MAX_COMPOSITION_MS = 10_000

/** Behind a second file header the clock is another one sooner. */
export const MAX_PAUSE_AT_HEADER_MS = 1000
/** Pictures wait so long for the sound that belongs to them, and sound for the pictures. */
export const OPENING_MS = 5000
export const AUDIO_WAIT_MS = 20_000
/** Sound follows the count of its samples where the time stamps, rounded to milliseconds, do not contradict. */
export const AUDIO_TOLERANCE_MS = 1
