// The picture decoder's own process: takes one job at a time from its parent and answers it. Started by decoder.ts.
import { constants, setPriority } from 'node:os'
import { answerJobs } from '../decoder-child/answer-jobs.ts'
import { renderPicture } from './render-picture.ts'

// Serving goes before decoding, but somebody waits for the picture; where a system forbids it, decoding is merely less polite.
try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
} catch {}

answerJobs(process, renderPicture)
