// How much of an untrusted fragmented MP4 is believed: every bound of the reader, in one place.

/** One moof box: a fragment of an hour and more. */
export const MAX_MOOF_BYTES = 16 * 1024 * 1024
/** Samples of one fragment, all tracks together. */
export const MAX_FRAGMENT_SAMPLES = 2 ** 20
/** Top-level boxes of one file: ten hours of fragments of one frame each take five million. */
export const MAX_TOP_BOXES = 20_000_000
/** How far is searched for the next fragment where bytes are damaged. */
export const MAX_RESYNC_BYTES = 256 * 1024 * 1024
/** A box of at most this much is searched as well where what stands behind it is none. */
export const MAX_DOUBTED_BYTES = 64 * 1024 * 1024
/** Fragments that are looked at together; see group.ts. */
export const MAX_GROUP_FRAGMENTS = 1024
/** Movie boxes that differ from the one before. */
export const MAX_INITS = 1000
/** Samples of one segment. */
export const MAX_SEGMENT_SAMPLES = 2 ** 22
/** A picture is shown so long before or after it is decoded at most: what claims more is damaged, and counts as 0. */
export const MAX_COMPOSITION_SECONDS = 60
