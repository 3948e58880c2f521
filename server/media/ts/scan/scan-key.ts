// Which pictures count as key frames.
import type { FrameKind } from '../packets/frame-start.ts'
import { MAX_FORWARD_TICKS, MAX_KEY_WAIT_TICKS } from './scan-state.ts'
import type { ScanState } from './scan-state.ts'

/** Whether a segment may begin with the picture. Recovery points serve where there is nothing better. */
export function countsAsKey(state: ScanState, kind: FrameKind, dts: number): boolean {
  if (kind === 'key') {
    state.lastKeyDts = dts
    state.takesRecovery = false
    return true
  }
  if (state.lastKeyDts !== undefined) {
    const wait = Math.abs(dts - state.lastKeyDts)
    // Behind a jump the wait begins anew.
    if (wait > MAX_FORWARD_TICKS && !state.takesRecovery) state.lastKeyDts = dts
    else if (wait > MAX_KEY_WAIT_TICKS) state.takesRecovery = true
  }
  return kind === 'recovery' && state.takesRecovery
}
