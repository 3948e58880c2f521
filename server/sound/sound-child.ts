// The process that transcodes sound: takes one job at a time from its parent and answers it. Started by sound-transcoder.ts.
import { answerJobs } from '../decoder-child/answer-jobs.ts'
import { transcodeSound } from './transcode-sound.ts'

answerJobs(process, transcodeSound)
