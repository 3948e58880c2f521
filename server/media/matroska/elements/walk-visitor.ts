// What a walk through elements passes to its visitor, and the state to resume it from.

/** State of a walk between two elements; a plain value to resume from. */
export interface WalkState {
  position: number
  /** Timestamp of the cluster, in ticks of the segment. */
  clusterTicks: number
  /** End of the cluster; Infinity if unknown. */
  clusterEnd: number
  /**
   * Start of bytes that are not an element, while the walk searches for the next cluster; else -1.
   */
  corruptFrom: number
}

/** A block with one or more frames of one track. */
export interface WalkedBlock {
  /** Position of its element (SimpleBlock or BlockGroup), where a walk can start. */
  position: number
  clusterTicks: number
  clusterEnd: number
  track: number
  /** In ticks of the segment. */
  ticks: number
  isKey: boolean
  /** In ticks of the segment; absent if not declared. */
  durationTicks?: number
  /** Position of the first frame in the file; the others follow it. */
  framesAt: number
  sizes: readonly number[]
  /** A copy of the first frame, or of its first HEAD_BYTES, as the visitor requests it. */
  payload?: Uint8Array
}

/** Of the first frame, `frames` needs no bytes, `head` the first ones, `payload` all. */
export type BlockInterest = 'none' | 'frames' | 'head' | 'payload'

/** Bytes of a frame of audio that contain its duration. */
export const HEAD_BYTES = 16

/** Callbacks of a walk. */
export interface WalkVisitor {
  segment(): void
  /** The content of an EBML header, Info or Tracks element, valid only during the call. */
  header(id: number, content: Uint8Array): void
  cluster(position: number): void
  /** Which parts of a track's blocks the visitor needs. */
  interest(track: number): BlockInterest
  block(block: WalkedBlock): void
  /** Bytes that are not elements, or that belong to a corrupt one. */
  corruption(from: number, to: number): void
}

/** A visitor that ignores everything, to be overridden. */
export const NO_OP_VISITOR: WalkVisitor = {
  segment: () => undefined,
  header: () => undefined,
  cluster: () => undefined,
  interest: () => 'none',
  block: () => undefined,
  corruption: () => undefined,
}

export interface WalkRange {
  /** Where the walk ends: the end of the file or of the requested range. */
  end: number
  /** `skip`: does not enter clusters of known size. */
  clusters?: 'enter' | 'skip'
}
