// An independent reading of media files for tests: by FFmpeg, in its own process.
import { fork } from 'node:child_process'
import { once } from 'node:events'

interface DemuxedTrack {
  kind: 'video' | 'audio'
  /** FFmpeg's number of the codec, e.g. 27 = H.264. */
  codecId: number
  timescale: number
  extradata: Uint8Array | undefined
  width: number
  height: number
  sampleRate: number
}

export interface DemuxedPacket {
  track: number
  /** Ticks of the track's timescale. */
  pts: number
  dts: number
  sizeBytes: number
  isKey: boolean
  data: Uint8Array | undefined
}

export interface DemuxResult {
  tracks: DemuxedTrack[]
  packets: DemuxedPacket[]
}

/** Tracks and packets of a file, in file order; data only of key packets unless `all` is set. */
export async function demux(path: string, withData: 'all' | 'keys' = 'keys'): Promise<DemuxResult> {
  const child = fork(new URL('./demux-child.ts', import.meta.url), [], {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.send({ path, withData })
  const [answer] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`${path} cannot be demuxed`)
    }),
  ])
  return answer as DemuxResult
}
