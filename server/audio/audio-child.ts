// The process that transcodes sound: takes one job at a time from its parent and answers it. Started by sound-transcoder.ts.
import { serveJobs } from '../decoder-child/serve-jobs.ts'
import { transcodeAudio } from './transcode-audio.ts'

serveJobs(process, transcodeAudio)
