// Entry point of the process that transcodes audio; started by audio-transcoder.ts.
import { serveJobs } from '../child/serve-jobs.ts'
import { transcodeAudio } from './transcode-audio.ts'

serveJobs(process, transcodeAudio)
