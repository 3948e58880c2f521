// How much of an untrusted FLV file is believed: every bound of the reader, in one place. Times in milliseconds.

/** Most that is read at once, and the memory that reading takes: of a whole file, and of a segment, of which several are read at the same time. */
export const WINDOW_BYTES = 256 * 1024
export const SEGMENT_WINDOW_BYTES = 512 * 1024
/** Decoder set-ups larger than this are none; the part of a tag that is looked at. */
export const MAX_CONFIG_BYTES = 64 * 1024
/** Set-ups of one recording that differ, and their bytes. */
export const MAX_CONFIGS = 256
export const MAX_CONFIGS_BYTES = 1024 * 1024
/** Cuts of one recording: more than eleven days of one a second. */
export const MAX_SPLIT_POINTS = 1_000_000
/** Breaks of one recording, and places where one track's clock is set anew. */
export const MAX_SECTIONS = 10_000
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

/** Time stamps that go back further, or on further, than this have jumped. */
export const MAX_BACK_MS = 1000
export const MAX_FORWARD_MS = 10_000
/** Behind a second file header the clock is another one sooner. */
export const MAX_PAUSE_AT_HEADER_MS = 1000
/** Key frames nearer than this to the cut before are no cuts of their own. */
export const MIN_SPLIT_MS = 900
/** Pictures without a key frame for so long are cut in mid-GOP, so far apart. */
export const MID_WAIT_MS = 5000
export const MID_STEP_MS = 2000
/** Sound without pictures for so long is cut as if there were none. */
export const LONE_AUDIO_MS = 10_000
/** Distance of cuts where there is sound alone. */
export const AUDIO_SPLIT_MS = 1000
/** Pictures wait so long for the sound that belongs to them, and sound for the pictures. */
export const OPENING_MS = 5000
export const AUDIO_WAIT_MS = 20_000
/** Length of a picture whose successor is not known. */
export const LONE_FRAME_MS = 40
/** Sound follows the count of its samples where the time stamps, rounded to milliseconds, do not contradict. */
export const AUDIO_TOLERANCE_MS = 1
