// Entry point of the process that encodes video; started by video-encoder.ts.
import { silenceCodecs } from '../child/open-codec.ts'
import { serveJobs } from '../child/serve-jobs.ts'
import { describeVideo } from './describe-video.ts'
import { encodeVideo } from './encode-video.ts'
import type { VideoJob } from './video-job.ts'

silenceCodecs()
serveJobs(process, (job: VideoJob) => {
  const before = process.cpuUsage()
  const value = job.kind === 'describe' ? describeVideo(job) : encodeVideo(job)
  const { user, system } = process.cpuUsage(before)
  return { value, cpuMs: (user + system) / 1000 }
})
