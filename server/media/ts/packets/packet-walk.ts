// Walks the packets of a file in large reads, with the next ones in flight, and resynchronises.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import {
  isUnitStart,
  MAX_PACKET_BYTES,
  packetPid,
  PID_COUNT,
  prefixBytes,
  SYNC_BYTE,
} from './packet.ts'
import type { PacketLayout, PacketView } from './packet.ts'

/**
 * Interest in a PID: its packets are skipped, only those that start a unit are visited, or all are.
 */
const SKIP = 0
export const STARTS = 1
export const ALL = 2
/** Before the first packet of a PID. */
export const UNKNOWN_COUNTER = 0xff

/**
 * Bytes without sync after which the rest of the file counts as lost (allocated but never written).
 */
const MAX_LOST_BYTES = 64 * 1024 * 1024
/**
 * Sizes of reads: common multiples of 188 and 192, so that whole packets fill a read. Those of a
 * scan fit the cache of the processor, and are large enough for disks.
 */
export const SCAN_CHUNK_BYTES = 36_096 * 16
export const SMALL_CHUNK_BYTES = 36_096 * 4
/** Room before a read for the rest of the last one: one packet to look back, three to see sync. */
const HEADROOM_BYTES = 6 * MAX_PACKET_BYTES
/** One is processed, three are being read: they leave one of the four I/O threads to viewers. */
const WINDOWS = 4
/** Bits of a header that the packets of a run share: sync byte, start of a unit, PID. */
const RUN_BITS = 0xff5fff00
/** Consecutive sync bytes, one packet apart, that count as sync. */
const SYNC_ROW = 3

export interface TsFile {
  file: OpenFile
  layout: PacketLayout
}

interface PacketVisitor {
  /** SKIP, STARTS or ALL for every PID; may change while packets are visited. */
  readonly interest: Uint8Array
  /**
   * The last header byte of the last packet of every PID of interest: its low four bits are the
   * continuity counter. UNKNOWN_COUNTER before the first.
   */
  readonly counters?: Uint8Array
  /** Visits a packet of interest; `stop` ends the walk after it. */
  visit(packet: PacketView): 'continue' | 'stop'
  /** Receives a range of the file (first byte, end) without whole packets. */
  lost?(from: number, to: number): void
}

interface WalkRange {
  /** Position of the first packet. */
  from: number
  /** End of the range, or of the file at the time it was opened, if that comes first. */
  to: number
  /** SCAN_CHUNK_BYTES or SMALL_CHUNK_BYTES. */
  chunkBytes: number
  /**
   * `open`: the file may grow, so that sync at the end of the range needs as many packets as
   * elsewhere. The result does not depend on how many ranges a walk is split into.
   */
  end?: 'open'
  signal?: AbortSignal
}

interface WalkState {
  visitor: PacketVisitor
  packetBytes: number
  prefix: number
  packet: PacketView
  /** Position of the next packet; without sync, of the next byte to search. */
  position: number
  /** Where sync was lost, until it is found again. */
  lostAt: number | undefined
  stopped: boolean
  endIsOpen: boolean
  counters: Uint8Array
}

/** A buffer with bytes of the file, filled from `start` to `end`; index 0 is position `base`. */
interface Window {
  bytes: Uint8Array<ArrayBuffer>
  view: DataView<ArrayBuffer>
  base: number
  start: number
  end: number
  isLast: boolean
}

/** A window that is being read. */
interface PendingRead {
  window: Window
  done: Promise<void>
}

/**
 * Visits the packets of a range in order. Returns the position after the last whole packet, where a
 * later walk continues.
 */
export async function walkPackets(
  { file, layout }: TsFile,
  visitor: PacketVisitor,
  range: WalkRange,
): Promise<number> {
  const state = createWalkState(layout, visitor, range)
  const to = Math.min(range.to, file.stat.sizeBytes)
  // If sync is lost at the first packet, the search begins inside the previous one.
  const from = Math.max(Math.min(layout.start, range.from), range.from - layout.packetBytes)
  const chunkBytes = Math.max(0, Math.min(range.chunkBytes, to - from))
  const reads: PendingRead[] = []
  let readFrom = from
  function request(window: Window): void {
    const done = fill(file, window, { from: readFrom, to, chunkBytes })
    // The caller receives the error where it awaits the read.
    done.catch(() => undefined)
    reads.push({ window, done })
    readFrom += chunkBytes
  }
  try {
    do request(createWindow(chunkBytes))
    while (reads.length < WINDOWS && readFrom < to)
    for (let read = reads[0]; read !== undefined; read = reads[0]) {
      await read.done
      reads.shift()
      range.signal?.throwIfAborted()
      walkWindow(state, read.window)
      const next = reads[0]?.window
      if (read.window.isLast || state.stopped || next === undefined) break
      keepRest(state, read.window, next)
      if (readFrom < to) request(read.window)
    }
  } finally {
    // Buffers must not be written to after the walk returns; errors of these reads no longer
    // matter.
    await Promise.allSettled(reads.map(({ done }) => done))
  }
  return state.lostAt ?? state.position
}

function createWalkState(
  layout: PacketLayout,
  visitor: PacketVisitor,
  { from, end }: WalkRange,
): WalkState {
  return {
    visitor,
    packetBytes: layout.packetBytes,
    prefix: prefixBytes(layout),
    packet: { bytes: new Uint8Array(0), at: 0, position: 0, header: 0, counterBefore: 0 },
    position: from,
    lostAt: undefined,
    stopped: false,
    endIsOpen: end === 'open',
    counters: visitor.counters ?? new Uint8Array(PID_COUNT).fill(UNKNOWN_COUNTER),
  }
}

function createWindow(chunkBytes: number): Window {
  const bytes = new Uint8Array(HEADROOM_BYTES + chunkBytes)
  const view = new DataView(bytes.buffer)
  return { bytes, view, base: 0, start: HEADROOM_BYTES, end: HEADROOM_BYTES, isLast: false }
}

async function fill(file: OpenFile, window: Window, range: WalkRange): Promise<void> {
  const wanted = Math.max(0, Math.min(range.chunkBytes, range.to - range.from))
  const target = window.bytes.subarray(HEADROOM_BYTES, HEADROOM_BYTES + wanted)
  window.base = range.from - HEADROOM_BYTES
  window.start = HEADROOM_BYTES
  const length = wanted === 0 ? 0 : await file.read(target, range.from)
  window.end = HEADROOM_BYTES + length
  window.isLast = length < range.chunkBytes || range.from + length >= range.to
}

/** Moves the unprocessed bytes, and one packet before them, to the start of the next window. */
function keepRest(state: WalkState, from: Window, to: Window): void {
  const lookBack = state.lostAt === undefined ? state.packetBytes : 0
  const first = Math.max(from.start, state.position - from.base - lookBack)
  const kept = from.bytes.subarray(first, from.end)
  to.start = HEADROOM_BYTES - kept.length
  to.bytes.set(kept, to.start)
}

function walkWindow(state: WalkState, window: Window): void {
  state.packet.bytes = window.bytes
  while (!state.stopped) {
    if (state.lostAt !== undefined && !findSync(state, window)) return
    if (!walkInSync(state, window)) return
  }
}

/** Visits packets until the window ends (false) or sync is lost (true). */
function walkInSync(state: WalkState, window: Window): boolean {
  const { visitor, packetBytes, prefix, packet } = state
  const { counters } = state
  const { interest } = visitor
  const { view, base, end } = window
  const last = end - packetBytes
  let at = state.position - base
  for (; at <= last; at += packetBytes) {
    const header = view.getUint32(at + prefix)
    if (header >>> 24 !== SYNC_BYTE) {
      loseSync(state, window, at)
      return true
    }
    const pid = packetPid(header)
    const level = interest[pid]
    if (level === SKIP) continue
    if (level === STARTS && !isUnitStart(header)) {
      at = lastOfRun(state, window, at)
      counters[pid] = view.getUint8(at + prefix + 3)
      continue
    }
    packet.counterBefore = counters[pid] ?? UNKNOWN_COUNTER
    counters[pid] = header
    packet.at = at + prefix
    packet.position = base + at
    packet.header = header
    if (visitor.visit(packet) === 'stop') {
      state.stopped = true
      at += packetBytes
      break
    }
  }
  state.position = base + at
  return false
}

/**
 * Index of the last packet of a run that begins at `at`: packets of one PID that continue a unit.
 * Almost all packets do, so each costs one load and one comparison.
 */
function lastOfRun({ packetBytes, prefix }: WalkState, { view, end }: Window, at: number): number {
  const first = view.getUint32(at + prefix)
  const last = end - packetBytes
  let next = at + packetBytes
  while (next <= last && ((view.getUint32(next + prefix) ^ first) & RUN_BITS) === 0) {
    next += packetBytes
  }
  return next - packetBytes
}

/** The previous packet may be truncated, so the search begins inside it. */
function loseSync(state: WalkState, window: Window, at: number): void {
  state.lostAt = window.base + at
  state.position = window.base + Math.max(window.start, at - state.packetBytes + 1)
}

/**
 * Searches for sync from the current position. Returns false if the window has none, and sets where
 * to continue.
 */
function findSync(state: WalkState, window: Window): boolean {
  const { packetBytes, prefix, lostAt = state.position } = state
  const { bytes, base, end } = window
  const isEnd = window.isLast && !state.endIsOpen
  const needed = isEnd ? packetBytes : (SYNC_ROW - 1) * packetBytes + 2 * prefix + 1
  let at = state.position - base
  while (at + needed <= end) {
    const sync = bytes.indexOf(SYNC_BYTE, at + prefix)
    at = sync < 0 ? end : sync - prefix
    if (at + needed > end || base + at - lostAt > MAX_LOST_BYTES) break
    if (isRow(state, window, at)) {
      const found = base + lastRow(state, window, at)
      state.visitor.lost?.(found < lostAt ? lostAt - packetBytes : lostAt, found)
      state.lostAt = undefined
      state.position = found
      return true
    }
    at++
  }
  state.position = base + Math.max(state.position - base, Math.min(at, end - needed + 1))
  if (state.position - lostAt > MAX_LOST_BYTES) state.stopped = true
  return false
}

/** Bytes of a time code may look like sync, so the last of the first few rows counts. */
function lastRow(state: WalkState, window: Window, first: number): number {
  let last = first
  for (let at = first + 1; at <= first + state.prefix; at++) {
    if (isRow(state, window, at)) last = at
  }
  return last
}

function isRow(state: WalkState, window: Window, at: number): boolean {
  let seen = 0
  for (let i = 0; i < SYNC_ROW; i++) {
    const sync = at + i * state.packetBytes + state.prefix
    if (sync >= window.end) break
    if (window.bytes[sync] !== SYNC_BYTE) return false
    seen++
  }
  // At the very end of the file, a whole packet that ends there needs only one neighbour.
  return seen > 1 || (window.isLast && at + state.packetBytes === window.end)
}
