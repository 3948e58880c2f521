// Entry point of the image decoder process; started by decoder.ts.
import { constants, setPriority } from 'node:os'
import { serveJobs } from '../decoder-child/serve-jobs.ts'
import { renderThumbnail } from './render-thumbnail.ts'

// Serving has priority over decoding, but a client waits for the image. Where the system forbids
// it, decoding just competes with serving.
try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
} catch {}

serveJobs(process, renderThumbnail)
