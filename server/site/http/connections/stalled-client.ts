// Disconnects a client that accepts none of the bytes that are queued for it.
import type { Socket } from 'node:net'

/** Checks within the time limit. */
const CHECKS = 4

/**
 * Destroys the socket if its client accepts no queued byte for `stalledMs`, or up to a quarter
 * longer. Node's own time limit is not enough: it starts again when the system has accepted a part
 * of a write, even if that was at its beginning.
 *
 * While no bytes are queued, the client waits for the server. What sendfile sends does not count,
 * but whenever the socket is full, `stream/delivery/send-body.ts` queues some bytes as well.
 */
export function disconnectStalled(socket: Socket, stalledMs: number): void {
  let accepted: number | undefined
  let unchangedChecks = 0
  const timer = setInterval(() => {
    const previous = accepted
    accepted = acceptedBytes(socket)
    const isUnchanged = accepted !== undefined && accepted === previous
    unchangedChecks = isUnchanged ? unchangedChecks + 1 : 0
    if (unchangedChecks === CHECKS) socket.destroy()
  }, stalledMs / CHECKS).unref()
  socket.once('close', () => clearInterval(timer))
}

/** Of all bytes that were written, those no longer queued; undefined if none are queued. */
function acceptedBytes(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null) return undefined
  const written: unknown = Reflect.get(handle, 'bytesWritten')
  const queued: unknown = Reflect.get(handle, 'writeQueueSize')
  if (typeof written !== 'number' || typeof queued !== 'number' || queued === 0) return undefined
  return written - queued
}
