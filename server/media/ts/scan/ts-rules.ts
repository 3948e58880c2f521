// The timeline rules of MPEG-TS.
import { timelineRules } from '../../timeline/timeline-rules.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'

/** The timeline rules for ticks of PES packets. */
export const tsRules = timelineRules('ts', PES_TIMESCALE)
