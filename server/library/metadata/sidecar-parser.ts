// The interface of the parsers of sidecars. They get a file in chunks, so that neither its size nor
// its nesting costs memory, and no chunk blocks the event loop for long.
import type { SessionText } from '../../../shared/contract.ts'

/** Parses one file. Bytes of any content are valid input: nothing throws. */
export interface SidecarParser<Value> {
  /** Takes the next bytes; they are not changed or stored. Returns whether more are useful. */
  add(bytes: Uint8Array): boolean
  /** The result, after the last bytes; undefined if the file is not valid. */
  end(): Value | undefined
}

/** What a sidecar contains of a session; a field of another type is absent. */
export interface SidecarText extends SessionText {
  description?: string
  /** Start in milliseconds since 1970. */
  startMs?: number
}
