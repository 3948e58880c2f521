// Sessions that are one file.
import type { FileStat, Storage } from '../../../storage/recordings/storage.ts'
import type { Freshness } from './freshness.ts'
import type { HlsRecordings, RecordingRequest } from './hls-recordings.ts'
import { fileRequest, sourceStart } from './part-requests.ts'
import type { FoundRecordings, ListedRecording } from './session-playlists.ts'
import type { SessionSource } from './session-source.ts'

export interface FileSessionsOptions {
  storage: Pick<Storage, 'stat'>
  recordings: HlsRecordings
  /** A recording without a write for this time counts as finished. */
  settleSeconds: number
}

export class FileSessions {
  readonly #options: FileSessionsOptions

  constructor(options: FileSessionsOptions) {
    this.#options = options
  }

  /** @param seen of the file, if it was just read @throws as `HlsRecordings.find` */
  async find(
    source: SessionSource,
    freshness: Freshness,
    seen?: FileStat,
  ): Promise<FoundRecordings> {
    const { storage, recordings } = this.#options
    const request = this.#request(source, seen ?? (await storage.stat(source.path)))
    return inFile(source, request, await recordings.find(request, freshness))
  }

  /** As `find`, synchronously; undefined if that needs a read. */
  cached(source: SessionSource, stat: FileStat, freshness: Freshness): FoundRecordings | undefined {
    const request = this.#request(source, stat)
    if (freshness !== 'cached' && request.state === 'growing') return undefined
    const cached = this.#options.recordings.cached(request)
    return cached && inFile(source, request, cached)
  }

  #request(source: SessionSource, stat: FileStat): RecordingRequest {
    const { settleSeconds } = this.#options
    return fileRequest(source, stat, { settleSeconds, nowMs: Date.now() })
  }
}

function inFile(
  source: SessionSource,
  { state }: RecordingRequest,
  recording: ListedRecording['recording'],
): FoundRecordings {
  return {
    recordings: [{ path: source.path, recording, start: sourceStart(source) }],
    isGrowing: state === 'growing',
    isEvent: recording.planned.growth !== undefined,
    isIncomplete: false,
  }
}
