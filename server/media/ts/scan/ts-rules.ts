// The timeline rules of MPEG-TS, and which frames count as key frames.
import { MAX_FORWARD_SECONDS, RULES, timelineRules } from '../../timeline/timeline-rules.ts'
import type { FrameKind } from '../packets/frame-start.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import type { ScanState } from './scan-state.ts'

/** The timeline rules for ticks of PES packets. */
export const tsRules = timelineRules('ts', PES_TIMESCALE)

/** Whether a segment may begin with the frame. Recovery points serve if there is nothing better. */
export function countsAsKey(state: ScanState, kind: FrameKind, dts: number): boolean {
  if (kind === 'key') {
    state.lastKeyDts = dts
    state.takesRecovery = false
    return true
  }
  if (state.lastKeyDts !== undefined) {
    const waitSeconds = Math.abs(dts - state.lastKeyDts) / PES_TIMESCALE
    // A jump restarts the wait.
    if (waitSeconds > MAX_FORWARD_SECONDS && !state.takesRecovery) state.lastKeyDts = dts
    else if (waitSeconds > RULES.ts.forcedAfterSeconds) state.takesRecovery = true
  }
  return kind === 'recovery' && state.takesRecovery
}
