// Walks through a Matroska file element by element, without a stack: segments and clusters are entered, never left.
// What may stand in them differs, so that elements of unknown size end by themselves (RFC 8794 6.2), and wrong sizes harm little.
import { MAX_BLOCK_HEAD_BYTES, SIMPLE_KEY, isLaced, parseBlockHead, parseLace } from './block.ts'
import {
  MAX_HEADER_BYTES,
  UNKNOWN_SIZE,
  parseHeader,
  parseUnsigned,
  type ElementHeader,
} from './ebml.ts'
import {
  BLOCK,
  BLOCK_DURATION,
  BLOCK_GROUP,
  CLUSTER,
  CLUSTER_TIMESTAMP,
  EBML_HEAD,
  INFO,
  KNOWN,
  REFERENCE_BLOCK,
  SEGMENT,
  SIMPLE_BLOCK,
  SKIPPED,
  SKIPPED_SEGMENT_LEVEL,
  TRACKS,
} from './element-ids.ts'
import { findCluster } from './find-cluster.ts'
import {
  MAX_BLOCK_BYTES,
  MAX_CUE_BLOCK_BYTES,
  MAX_HEAD_ELEMENT_BYTES,
  MAX_LACE_BYTES,
  MAX_UNKNOWN_BYTES,
} from '../matroska-limits.ts'

/** Where a walk is between two elements; a plain value to go on with. */
export interface WalkPlace {
  position: number
  /** Time stamp of the cluster, in ticks of the segment. */
  clusterTicks: number
  /** Where the cluster ends, Infinity where it does not say. */
  clusterEnd: number
  /** Where bytes were met that are no element: the next cluster is looked for. -1 while all is well. */
  lostFrom: number
}

/** A block with its frames, one or several of one track. */
export interface WalkedBlock {
  /** Position of its element (SimpleBlock or BlockGroup), from where a walk can begin. */
  position: number
  clusterTicks: number
  clusterEnd: number
  track: number
  /** In ticks of the segment. */
  ticks: number
  isKey: boolean
  /** In ticks of the segment; absent where it is not said. */
  durationTicks?: number
  /** Position of the first frame in the file; the others follow. */
  framesAt: number
  sizes: readonly number[]
  /** The first frame's first two bytes as one number; what is missing is 0. */
  firstBytes: number
  /** A copy of the first frame, where the visitor wants it. */
  payload?: Uint8Array
}

/** What is told of on the way. */
export interface WalkVisitor {
  segment(): void
  /** The content of an EBML head, of Info or of Tracks. It is valid during the call only. */
  head(id: number, content: Uint8Array): void
  cluster(position: number): void
  /** What is wanted of a track's blocks. */
  wants(track: number): 'nothing' | 'frames' | 'payload'
  block(block: WalkedBlock): void
  /** Bytes that could not be read as elements, or belong to one that is broken. */
  damage(from: number, to: number): void
}

/** A visitor that wants nothing, to be filled in. */
export const IDLE_VISITOR: WalkVisitor = {
  segment: () => undefined,
  head: () => undefined,
  cluster: () => undefined,
  wants: () => 'nothing',
  block: () => undefined,
  damage: () => undefined,
}

export interface WalkRange {
  /** The walk ends here: the end of the file, or of the stretch that is asked for. */
  end: number
  /** `skip`: clusters whose size is known are not entered. */
  clusters?: 'enter' | 'skip'
}

interface Group {
  position: number
  end: number
  block: WalkedBlock | undefined
  hasReference: boolean
  durationTicks: number | undefined
}

/** An element's header with its place in the bytes at hand. */
interface Met extends ElementHeader {
  /** Of the content, in the bytes. */
  at: number
  /** Of the content's end, in the file. */
  end: number
}

const PROGRESS = 0

export class ElementWalk {
  readonly #visitor: WalkVisitor
  readonly #clusters: 'enter' | 'skip'
  #end: number
  #place: WalkPlace
  #group: Group | undefined
  /** An element that reaches past the end, behind which a cluster is looked for: where none is, the file ends in it. */
  #unfinished: WalkPlace | undefined
  /** An element that was passed by its size; what stands behind it tells whether that was true. */
  #skipped: WalkPlace | undefined

  constructor(place: WalkPlace, { end, clusters = 'enter' }: WalkRange, visitor: WalkVisitor) {
    this.#visitor = visitor
    this.#clusters = clusters
    this.#end = end
    this.#place = { ...place }
  }

  /** Where the bytes of the next call must begin. */
  get position(): number {
    return this.#place.position
  }

  get end(): number {
    return this.#end
  }

  /** Where a later walk goes on: behind the last whole element. */
  place(): WalkPlace {
    return { ...(this.#unfinished ?? this.#place) }
  }

  stop(): void {
    this.#end = this.#place.position
  }

  /**
   * Walks through bytes of the file that begin at `position`. Answers how many bytes from the new `position` on (it may
   * lie before the bytes) are needed to go on; 0 at the end. The file may end before that: then its last element is not whole.
   */
  consume(bytes: Uint8Array): number {
    const start = this.#place.position
    for (;;) {
      const group = this.#group
      if (group !== undefined && this.#place.position >= group.end) this.#endGroup(group)
      if (this.#place.position >= this.#end) return 0
      const at = this.#place.position - start
      const isAtHand = at >= 0 && at < bytes.length
      const needed = isAtHand ? this.#step(bytes, at) : 1
      if (needed !== PROGRESS) return needed
    }
  }

  #step(bytes: Uint8Array, at: number): number {
    if (this.#place.lostFrom >= 0) return this.#search(bytes, at)
    const header = parseHeader(bytes, at)
    if (header === 'short') return MAX_HEADER_BYTES
    if (!this.#isSkipAudio(header) || header === 'broken') return this.#lose()
    const end = this.#place.position + header.headerBytes + header.sizeBytes
    const { id, headerBytes, sizeBytes } = header
    const met = { id, headerBytes, sizeBytes, at: at + headerBytes, end }
    if (this.#group !== undefined) return this.#groupChild(bytes, met, this.#group)
    if (header.id === SEGMENT || header.id === CLUSTER) return this.#enter(met)
    if (header.sizeBytes === UNKNOWN_SIZE) return this.#lose()
    return this.#element(bytes, met)
  }

  #enter({ id, headerBytes, sizeBytes, end }: Met): number {
    const { position } = this.#place
    if (id === SEGMENT) {
      this.#visitor.segment()
      return this.#goTo(position + headerBytes)
    }
    const isSized = sizeBytes !== UNKNOWN_SIZE
    this.#place.clusterEnd = isSized ? end : Infinity
    this.#visitor.cluster(position)
    return this.#goTo(isSized && this.#clusters === 'skip' ? end : position + headerBytes)
  }

  #element(bytes: Uint8Array, met: Met): number {
    switch (met.id) {
      case EBML_HEAD:
      case INFO:
      case TRACKS:
        return this.#head(bytes, met)
      case CLUSTER_TIMESTAMP: {
        if (met.sizeBytes > 8) return this.#lose()
        if (met.at + met.sizeBytes > bytes.length) return this.#need(met, met.sizeBytes)
        this.#place.clusterTicks = parseUnsigned(bytes.subarray(met.at, met.at + met.sizeBytes))
        return this.#goTo(met.end)
      }
      case SIMPLE_BLOCK:
        return this.#simpleBlock(bytes, met)
      case BLOCK_GROUP: {
        if (!this.#fits(met)) return this.#lose()
        if (met.end > this.#end) return this.#need(met, met.sizeBytes)
        const { position } = this.#place
        const rest = { block: undefined, hasReference: false, durationTicks: undefined }
        this.#group = { position, end: met.end, ...rest }
        return this.#goTo(position + met.headerBytes)
      }
      default:
        return SKIPPED.has(met.id) ? this.#skip(met) : this.#unknown(bytes, met)
    }
  }

  #head(bytes: Uint8Array, met: Met): number {
    const { id, at, sizeBytes } = met
    if (sizeBytes > MAX_HEAD_ELEMENT_BYTES) return this.#lose()
    if (at + sizeBytes > bytes.length) return this.#need(met, sizeBytes)
    this.#visitor.head(id, bytes.subarray(at, at + sizeBytes))
    return this.#goTo(met.end)
  }

  #skip(met: Met): number {
    if (!SKIPPED_SEGMENT_LEVEL.has(met.id)) {
      if (!this.#fits(met)) return this.#lose()
      if (met.end > this.#end) return this.#need(met, met.sizeBytes)
    }
    if (met.end > this.#end) {
      this.#unfinished = { ...this.#place }
      return this.#lose()
    }
    this.#skipped = { ...this.#place }
    return this.#goTo(met.end)
  }

  /**
   * Behind what was skipped stands something known, else its size was wrong, and clusters may lie in it: as they are
   * found while the file is not as long yet.
   */
  #isSkipAudio(header: ElementHeader | 'broken'): boolean {
    const skipped = this.#skipped
    this.#skipped = undefined
    if (skipped === undefined || (header !== 'broken' && KNOWN.has(header.id))) return true
    this.#place = skipped
    return false
  }

  /** What is not known may come from a later edition, or be damage: what stands behind it tells. */
  #unknown(bytes: Uint8Array, met: Met): number {
    if (met.sizeBytes > MAX_UNKNOWN_BYTES || !this.#fits(met)) return this.#lose()
    if (met.end === this.#end) return this.#goTo(met.end)
    const next = parseHeader(bytes, met.at + met.sizeBytes)
    if (next === 'short') return this.#need(met, met.sizeBytes + MAX_HEADER_BYTES)
    return next !== 'broken' && KNOWN.has(next.id) ? this.#goTo(met.end) : this.#lose()
  }

  #simpleBlock(bytes: Uint8Array, met: Met): number {
    if (!this.#fits(met)) return this.#lose()
    if (met.end > this.#end) return this.#need(met, met.sizeBytes)
    const block = this.#parseBlock(bytes, met)
    if (typeof block === 'number') return block
    if (block !== undefined) this.#visitor.block(block)
    return this.#goTo(met.end)
  }

  #groupChild(bytes: Uint8Array, met: Met, group: Group): number {
    if (met.sizeBytes === UNKNOWN_SIZE || met.end > group.end) return this.#goTo(group.end)
    if (met.id === BLOCK) {
      const block = this.#parseBlock(bytes, met)
      if (typeof block === 'number') return block
      group.block ??= block
    }
    if (met.id === BLOCK_DURATION && met.sizeBytes <= 8) {
      if (met.at + met.sizeBytes > bytes.length) return this.#need(met, met.sizeBytes)
      group.durationTicks = parseUnsigned(bytes.subarray(met.at, met.at + met.sizeBytes))
    }
    if (met.id === REFERENCE_BLOCK) group.hasReference = true
    return this.#goTo(met.end)
  }

  #endGroup({ position, block, hasReference, durationTicks }: Group): void {
    this.#group = undefined
    if (block === undefined) return
    const duration = durationTicks === undefined ? {} : { durationTicks }
    this.#visitor.block({ ...block, position, isKey: !hasReference, ...duration })
  }

  /** The block; how many bytes it needs; or undefined where it is not wanted or broken. */
  #parseBlock(bytes: Uint8Array, met: Met): WalkedBlock | number | undefined {
    const { at, sizeBytes } = met
    const wished = Math.min(sizeBytes, MAX_BLOCK_HEAD_BYTES + 2)
    if (at + wished > bytes.length) return this.#need(met, wished)
    const head = parseBlockHead(bytes, at)
    if (head === undefined || head.headBytes > sizeBytes) return undefined
    const wants = this.#visitor.wants(head.track)
    if (wants === 'nothing') return undefined
    const { headBytes, flags } = head
    const range = { at: at + headBytes, end: at + sizeBytes }
    const lace = isLaced(head)
      ? parseLace(bytes, head, range)
      : { sizes: [sizeBytes - headBytes], framesAt: range.at }
    if (lace === undefined) return undefined
    if (lace === 'short') return this.#need(met, Math.min(sizeBytes, headBytes + MAX_LACE_BYTES))
    const { sizes, framesAt } = lace
    const payloadEnd = framesAt + (sizes[0] ?? 0)
    const isCopied = wants === 'payload' && payloadEnd - framesAt <= MAX_CUE_BLOCK_BYTES
    const seenEnd = isCopied ? payloadEnd : Math.min(payloadEnd, framesAt + 2)
    if (seenEnd > bytes.length) return this.#need(met, seenEnd - at)
    const { position, clusterTicks, clusterEnd } = this.#place
    return {
      position,
      clusterTicks,
      clusterEnd,
      track: head.track,
      ticks: clusterTicks + head.relativeTicks,
      isKey: (flags & SIMPLE_KEY) !== 0,
      framesAt: position + met.headerBytes + framesAt - at,
      sizes,
      firstBytes: firstBytes(bytes, framesAt, payloadEnd),
      ...(isCopied && { payload: bytes.slice(framesAt, payloadEnd) }),
    }
  }

  /** Whether the element is of a size that is believed, and within its cluster. */
  #fits({ sizeBytes, end }: Met): boolean {
    const { position, clusterEnd } = this.#place
    return sizeBytes <= MAX_BLOCK_BYTES && (position >= clusterEnd || end <= clusterEnd)
  }

  #need({ headerBytes }: Met, contentBytes: number): number {
    return headerBytes + contentBytes
  }

  #goTo(position: number): number {
    this.#place.position = position
    return PROGRESS
  }

  #lose(): number {
    this.#group = undefined
    this.#place.lostFrom = this.#place.position
    return this.#goTo(this.#place.position + 1)
  }

  #search(bytes: Uint8Array, at: number): number {
    const { offset, found } = findCluster(bytes, at)
    this.#place.position += offset - at
    if (found === 'no') return PROGRESS
    if (found === 'short') return bytes.length - offset + MAX_HEADER_BYTES
    this.#unfinished = undefined
    this.#visitor.damage(this.#place.lostFrom, this.#place.position)
    this.#place.lostFrom = -1
    this.#place.clusterEnd = Infinity
    return PROGRESS
  }
}

function firstBytes(bytes: Uint8Array, at: number, end: number): number {
  const first = at < end ? (bytes[at] ?? 0) : 0
  const second = at + 1 < end ? (bytes[at + 1] ?? 0) : 0
  return first * 256 + second
}
