// Walks a Matroska file element by element, without a stack: it enters segments and clusters, and
// never leaves them. Their children have different IDs, so that an element of unknown size ends by
// itself (RFC 8794 6.2), and a wrong size does little harm.
import {
  MAX_BLOCK_HEADER_BYTES,
  SIMPLE_KEY,
  isLaced,
  parseBlockHeader,
  parseLace,
} from './block.ts'
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
  EBML_HEADER,
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
  MAX_HEADER_ELEMENT_BYTES,
  MAX_LACE_BYTES,
  MAX_UNKNOWN_BYTES,
} from '../matroska-limits.ts'
import { HEAD_BYTES } from './walk-visitor.ts'
import type { WalkRange, WalkState, WalkVisitor, WalkedBlock } from './walk-visitor.ts'

interface Group {
  position: number
  end: number
  block: WalkedBlock | undefined
  hasReference: boolean
  durationTicks: number | undefined
}

/** An element's header with its location. */
interface LocatedElement extends ElementHeader {
  /** Offset of the content in the bytes. */
  at: number
  /** End of the content in the file. */
  end: number
}

const PROGRESS = 0

export class ElementWalk {
  readonly #visitor: WalkVisitor
  readonly #clusters: 'enter' | 'skip'
  #end: number
  #state: WalkState
  #group: Group | undefined
  /**
   * State before an element that exceeds the end, while a cluster is searched after it; without
   * one, the file is truncated here.
   */
  #truncated: WalkState | undefined
  /** State before an element skipped by its size, until the next element confirms the size. */
  #skipped: WalkState | undefined

  constructor(walkState: WalkState, { end, clusters = 'enter' }: WalkRange, visitor: WalkVisitor) {
    this.#visitor = visitor
    this.#clusters = clusters
    this.#end = end
    this.#state = { ...walkState }
  }

  /** Where the bytes of the next call must start. */
  get position(): number {
    return this.#state.position
  }

  get end(): number {
    return this.#end
  }

  /** Where a later walk can resume: after the last complete element. */
  walkState(): WalkState {
    return { ...(this.#truncated ?? this.#state) }
  }

  stop(): void {
    this.#end = this.#state.position
  }

  /**
   * Walks bytes of the file that start at `position`. Returns how many bytes from the new
   * `position` (which may be before these bytes) are required next; 0 at the end. If the file ends
   * before that, its last element is truncated.
   */
  consume(bytes: Uint8Array): number {
    const start = this.#state.position
    for (;;) {
      const group = this.#group
      if (group !== undefined && this.#state.position >= group.end) this.#endGroup(group)
      if (this.#state.position >= this.#end) return 0
      const at = this.#state.position - start
      const isInWindow = at >= 0 && at < bytes.length
      const needed = isInWindow ? this.#step(bytes, at) : 1
      if (needed !== PROGRESS) return needed
    }
  }

  #step(bytes: Uint8Array, at: number): number {
    if (this.#state.corruptFrom >= 0) return this.#search(bytes, at)
    const header = parseHeader(bytes, at)
    if (header === 'short') return MAX_HEADER_BYTES
    if (!this.#isSkipPlausible(header) || header === 'invalid') return this.#startSearch()
    const end = this.#state.position + header.headerBytes + header.sizeBytes
    const { id, headerBytes, sizeBytes } = header
    const element = { id, headerBytes, sizeBytes, at: at + headerBytes, end }
    if (this.#group !== undefined) return this.#groupChild(bytes, element, this.#group)
    if (header.id === SEGMENT || header.id === CLUSTER) return this.#enter(element)
    if (header.sizeBytes === UNKNOWN_SIZE) return this.#startSearch()
    return this.#element(bytes, element)
  }

  #enter({ id, headerBytes, sizeBytes, end }: LocatedElement): number {
    const { position } = this.#state
    if (id === SEGMENT) {
      this.#visitor.segment()
      return this.#moveTo(position + headerBytes)
    }
    const isSized = sizeBytes !== UNKNOWN_SIZE
    this.#state.clusterEnd = isSized ? end : Infinity
    this.#visitor.cluster(position)
    return this.#moveTo(isSized && this.#clusters === 'skip' ? end : position + headerBytes)
  }

  #element(bytes: Uint8Array, element: LocatedElement): number {
    switch (element.id) {
      case EBML_HEADER:
      case INFO:
      case TRACKS:
        return this.#header(bytes, element)
      case CLUSTER_TIMESTAMP: {
        if (element.sizeBytes > 8) return this.#startSearch()
        if (element.at + element.sizeBytes > bytes.length)
          return this.#need(element, element.sizeBytes)
        this.#state.clusterTicks = parseUnsigned(
          bytes.subarray(element.at, element.at + element.sizeBytes),
        )
        return this.#moveTo(element.end)
      }
      case SIMPLE_BLOCK:
        return this.#simpleBlock(bytes, element)
      case BLOCK_GROUP: {
        if (!this.#fitsCluster(element)) return this.#startSearch()
        if (element.end > this.#end) return this.#need(element, element.sizeBytes)
        const { position } = this.#state
        const rest = { block: undefined, hasReference: false, durationTicks: undefined }
        this.#group = { position, end: element.end, ...rest }
        return this.#moveTo(position + element.headerBytes)
      }
      default:
        return SKIPPED.has(element.id) ? this.#skip(element) : this.#unknown(bytes, element)
    }
  }

  #header(bytes: Uint8Array, element: LocatedElement): number {
    const { id, at, sizeBytes } = element
    if (sizeBytes > MAX_HEADER_ELEMENT_BYTES) return this.#startSearch()
    if (at + sizeBytes > bytes.length) return this.#need(element, sizeBytes)
    this.#visitor.header(id, bytes.subarray(at, at + sizeBytes))
    return this.#moveTo(element.end)
  }

  #skip(element: LocatedElement): number {
    if (!SKIPPED_SEGMENT_LEVEL.has(element.id)) {
      if (!this.#fitsCluster(element)) return this.#startSearch()
      if (element.end > this.#end) return this.#need(element, element.sizeBytes)
    }
    if (element.end > this.#end) {
      this.#truncated = { ...this.#state }
      return this.#startSearch()
    }
    this.#skipped = { ...this.#state }
    return this.#moveTo(element.end)
  }

  /**
   * If no known element follows a skipped one, its size was wrong and clusters may be inside it:
   * while the file is shorter, they would be found too.
   */
  #isSkipPlausible(header: ElementHeader | 'invalid'): boolean {
    const skipped = this.#skipped
    this.#skipped = undefined
    if (skipped === undefined || (header !== 'invalid' && KNOWN.has(header.id))) return true
    this.#state = skipped
    return false
  }

  /** An unknown element is either from a later version or corrupt, depending on what follows it. */
  #unknown(bytes: Uint8Array, element: LocatedElement): number {
    if (element.sizeBytes > MAX_UNKNOWN_BYTES || !this.#fitsCluster(element))
      return this.#startSearch()
    if (element.end === this.#end) return this.#moveTo(element.end)
    const next = parseHeader(bytes, element.at + element.sizeBytes)
    if (next === 'short') return this.#need(element, element.sizeBytes + MAX_HEADER_BYTES)
    return next !== 'invalid' && KNOWN.has(next.id)
      ? this.#moveTo(element.end)
      : this.#startSearch()
  }

  #simpleBlock(bytes: Uint8Array, element: LocatedElement): number {
    if (!this.#fitsCluster(element)) return this.#startSearch()
    if (element.end > this.#end) return this.#need(element, element.sizeBytes)
    const block = this.#parseBlock(bytes, element)
    if (typeof block === 'number') return block
    if (block !== undefined) this.#visitor.block(block)
    return this.#moveTo(element.end)
  }

  #groupChild(bytes: Uint8Array, element: LocatedElement, group: Group): number {
    if (element.sizeBytes === UNKNOWN_SIZE || element.end > group.end)
      return this.#moveTo(group.end)
    if (element.id === BLOCK) {
      const block = this.#parseBlock(bytes, element)
      if (typeof block === 'number') return block
      group.block ??= block
    }
    if (element.id === BLOCK_DURATION && element.sizeBytes <= 8) {
      if (element.at + element.sizeBytes > bytes.length)
        return this.#need(element, element.sizeBytes)
      group.durationTicks = parseUnsigned(
        bytes.subarray(element.at, element.at + element.sizeBytes),
      )
    }
    if (element.id === REFERENCE_BLOCK) group.hasReference = true
    return this.#moveTo(element.end)
  }

  #endGroup({ position, block, hasReference, durationTicks }: Group): void {
    this.#group = undefined
    if (block === undefined) return
    const duration = durationTicks === undefined ? {} : { durationTicks }
    this.#visitor.block({ ...block, position, isKey: !hasReference, ...duration })
  }

  /** The block; or how many bytes it needs; or undefined if it is ignored or corrupt. */
  #parseBlock(bytes: Uint8Array, element: LocatedElement): WalkedBlock | number | undefined {
    const { at, sizeBytes } = element
    const headerLength = Math.min(sizeBytes, MAX_BLOCK_HEADER_BYTES + 2)
    if (at + headerLength > bytes.length) return this.#need(element, headerLength)
    const header = parseBlockHeader(bytes, at)
    if (header === undefined || header.headerBytes > sizeBytes) return undefined
    const interest = this.#visitor.interest(header.track)
    if (interest === 'none') return undefined
    const { headerBytes, flags } = header
    const range = { at: at + headerBytes, end: at + sizeBytes }
    const lace = isLaced(header)
      ? parseLace(bytes, header, range)
      : { sizes: [sizeBytes - headerBytes], framesAt: range.at }
    if (lace === undefined) return undefined
    if (lace === 'short')
      return this.#need(element, Math.min(sizeBytes, headerBytes + MAX_LACE_BYTES))
    const { sizes, framesAt } = lace
    const frameBytes = sizes[0] ?? 0
    const headBytes = interest === 'head' ? Math.min(frameBytes, HEAD_BYTES) : 0
    const isWhole = interest === 'payload' && frameBytes <= MAX_CUE_BLOCK_BYTES
    const copyEnd = framesAt + (isWhole ? frameBytes : headBytes)
    if (copyEnd > bytes.length) return this.#need(element, copyEnd - at)
    const { position, clusterTicks, clusterEnd } = this.#state
    return {
      position,
      clusterTicks,
      clusterEnd,
      track: header.track,
      ticks: clusterTicks + header.relativeTicks,
      isKey: (flags & SIMPLE_KEY) !== 0,
      framesAt: position + element.headerBytes + framesAt - at,
      sizes,
      ...(copyEnd > framesAt && { payload: bytes.slice(framesAt, copyEnd) }),
    }
  }

  /** Whether the element has a plausible size, and is inside its cluster. */
  #fitsCluster({ sizeBytes, end }: LocatedElement): boolean {
    const { position, clusterEnd } = this.#state
    return sizeBytes <= MAX_BLOCK_BYTES && (position >= clusterEnd || end <= clusterEnd)
  }

  #need({ headerBytes }: LocatedElement, contentBytes: number): number {
    return headerBytes + contentBytes
  }

  #moveTo(position: number): number {
    this.#state.position = position
    return PROGRESS
  }

  #startSearch(): number {
    this.#group = undefined
    this.#state.corruptFrom = this.#state.position
    return this.#moveTo(this.#state.position + 1)
  }

  #search(bytes: Uint8Array, at: number): number {
    const { offset, found } = findCluster(bytes, at)
    this.#state.position += offset - at
    if (found === 'no') return PROGRESS
    if (found === 'short') return bytes.length - offset + MAX_HEADER_BYTES
    this.#truncated = undefined
    this.#visitor.corruption(this.#state.corruptFrom, this.#state.position)
    this.#state.corruptFrom = -1
    this.#state.clusterEnd = Infinity
    return PROGRESS
  }
}
