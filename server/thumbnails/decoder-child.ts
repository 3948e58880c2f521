// The picture decoder's own process: takes one job at a time from its parent and answers it. Started by decoder.ts.
import { constants, setPriority } from 'node:os'
import { serveJobs } from '../decoder-child/serve-jobs.ts'
import { renderThumbnail } from './render-thumbnail.ts'

// Serving goes before decoding, but somebody waits for the picture; where a system forbids it, decoding is merely less polite.
try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
} catch {}

serveJobs(process, renderThumbnail)
