// All limits of the MP4 reader for untrusted files.

/** Larger moov boxes are refused; ten hours at 30 frames per second take about 45 MB. */
export const MAX_MOOV_BYTES = 512 * 1024 * 1024
/**
 * Boxes read in one file. Nesting is bounded by the code, which enters named boxes only, at most
 * eight deep.
 */
export const MAX_BOXES = 1_000_000
/** Tracks of one movie. */
export const MAX_TRACKS = 64
/** Samples of one track. */
export const MAX_SAMPLES = 2 ** 31
/** Sample entries (codec configurations) of one track. */
export const MAX_DESCRIPTIONS = 64
/** Size of a sample entry; the largest real ones carry images in FLAC metadata. */
export const MAX_SAMPLE_ENTRY_BYTES = 1024 * 1024
/** Edits of one track that are read; the first one that shows media decides. */
export const MAX_EDITS = 1024
/** Largest single read, and so the most that is parsed without yielding to the event loop. */
export const MAX_SLICE_BYTES = 1024 * 1024
/** Tables up to this size are stored in the index, so that a segment needs no read for them. */
export const MAX_INLINE_TABLE_BYTES = 4096
/** Tables up to this size are repaired; the index stores the repaired one. */
export const MAX_REPAIRED_TABLE_BYTES = 4 * 1024 * 1024
/** Samples without a key frame after which another frame is a forced split. */
export const FORCED_SAMPLES = 20_000
/** A larger composition offset, in either direction, is corrupt and counts as 0. */
export const MAX_COMPOSITION_SECONDS = 60
/** Ranges of samples of one track that are left out. */
export const MAX_UNREADABLE_RANGES = 10_000
/** Largest key frame that is passed to a decoder. */
export const MAX_KEY_FRAME_BYTES = 64 * 1024 * 1024
/** Runs without samples in one table of times. Each adds eight bytes to the reads of a segment. */
export const MAX_EMPTY_RUNS = 65_536
/** Audio tracks that are served; further ones are omitted. */
export const MAX_AUDIO_TRACKS = 16
/** PCM samples that are joined to one packet. */
export const PCM_PACKET_SAMPLES = 1024
/** Cues of one recording, their total size, and the size of one subtitle sample. */
export const MAX_CUES = 200_000
export const MAX_SUBTITLE_BYTES = 16 * 1024 * 1024
export const MAX_SUBTITLE_SAMPLE_BYTES = 64 * 1024
