// How much of an untrusted MP4 file is believed: every bound of the reader, in one place.

/** A movie box (moov) larger than this is refused; ten hours at 30 frames a second take about 45 MB. */
export const MAX_MOOV_BYTES = 512 * 1024 * 1024
/** Boxes looked at in one file. Nesting is bound by the code: it steps into named boxes only, at most eight deep. */
export const MAX_BOXES = 1_000_000
/** Tracks of one movie. */
export const MAX_TRACKS = 64
/** Samples of one track. */
export const MAX_SAMPLES = 2 ** 31
/** Sample entries (codec configurations) of one track. */
export const MAX_DESCRIPTIONS = 64
/** One sample entry; the largest known carry pictures in FLAC metadata. */
export const MAX_SAMPLE_ENTRY_BYTES = 1024 * 1024
/** Edits of one track that are looked at; the first that shows media decides. */
export const MAX_EDITS = 1024
/** Most of a file that one read asks for, and so the longest stretch that is parsed without a pause. */
export const MAX_SLICE_BYTES = 1024 * 1024
/** Tables up to this size are kept with the index, so that a segment needs no read for them. */
export const MAX_INLINE_TABLE_BYTES = 4096
/** Samples of one track between two cuts: a day of sound without any. */
export const MAX_SPLIT_POINT_SAMPLES = 2 ** 22
/** Largest key frame handed to a decoder. */
export const MAX_KEY_FRAME_BYTES = 64 * 1024 * 1024
/** Runs without samples in a table of times. Each costs a segment eight bytes of reading. */
export const MAX_EMPTY_RUNS = 65_536
/** Sound tracks that are served; more are left out. */
export const MAX_AUDIO_TRACKS = 16
/** Samples of uncompressed sound that are handed on as one packet. */
export const PCM_PACKET_SAMPLES = 1024
/** Cues of one recording, their bytes in all, and those of one sample. */
export const MAX_CUES = 200_000
export const MAX_TEXT_BYTES = 16 * 1024 * 1024
export const MAX_TEXT_SAMPLE_BYTES = 64 * 1024
