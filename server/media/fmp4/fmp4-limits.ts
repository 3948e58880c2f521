// All limits of the reader of fragmented MP4 for untrusted files.

/** Size of a moof box: a fragment of more than an hour. */
export const MAX_MOOF_BYTES = 16 * 1024 * 1024
/** Samples of one fragment, all tracks together; a group ends with the fragment that reaches it. */
export const MAX_FRAGMENT_SAMPLES = 2 ** 20
/** Top-level boxes of one file: ten hours of one-frame fragments have five million. */
export const MAX_TOP_BOXES = 20_000_000
/** How far to search for the next fragment after corrupt bytes. */
export const MAX_RESYNC_BYTES = 256 * 1024 * 1024
/** A box up to this size is also searched if no box follows it. */
export const MAX_UNVERIFIED_BYTES = 64 * 1024 * 1024
/** Fragments of one group; see fragment-grouper.ts. */
export const MAX_GROUP_FRAGMENTS = 1024
/** Different movie boxes of one file. */
export const MAX_INITS = 1000
