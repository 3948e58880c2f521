// What the player and the pre-roll report of their work. They are lazy chunks that share no code,
// so the report is an event of the window, to which only the first-party collector listens.
import type { QualityEvent } from '../../shared/contract.ts'

declare global {
  interface WindowEventMap {
    /** Dispatched on the window. */
    quality: CustomEvent<QualityEvent>
  }
}
