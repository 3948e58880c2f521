// Entry point of the image decoder process; started by decoder.ts.
import { silenceCodecs } from '../child/open-codec.ts'
import { serveJobs } from '../child/serve-jobs.ts'
import type { DecoderJob, EmotePicture, RenderedImage } from './render-message.ts'
import { encodeSprite, renderEmote } from './render-emote.ts'
import { encodeSheet, renderThumbnail, renderTile } from './render-images.ts'

silenceCodecs()
serveJobs(process, runJob)

function runJob(job: DecoderJob): RenderedImage | EmotePicture | Uint8Array {
  switch (job.kind) {
    case 'image':
      return renderThumbnail(job)
    case 'tile':
      return renderTile(job)
    case 'sheet':
      return encodeSheet(job)
    case 'emote':
      return renderEmote(job)
    case 'sprite':
      return encodeSprite(job)
  }
}
