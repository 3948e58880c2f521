// What visitors get from a node: playlists, and the segments that they list.
import { createHash } from 'node:crypto'
import { createAdmission } from '../../server/base/admission/limits.ts'
import { FolderArtifacts } from '../../server/storage/artifacts/folder-artifacts.ts'
import { SharedArtifacts } from '../../server/storage/artifacts/shared-artifacts.ts'
import { inspectIn } from '../../server/app/scanning.ts'
import type { Catalog } from '../../server/library/catalog/catalog.ts'
import type { Inspect } from '../../server/library/catalog/scan/inspector.ts'
import { isAppError } from '../../server/base/errors.ts'
import { parseFileName } from '../../server/stream/hls/playlist/segment-names.ts'
import { TranscodedAudio } from '../../server/stream/hls/segment/transcoded-audio.ts'
import type { HlsFile, OpenSession } from '../../server/stream/hls/session/open-session.ts'
import { PartFolders } from '../../server/stream/hls/session/part-folders.ts'
import { inspectSession } from '../../server/stream/hls/session/session-inspection.ts'
import { SessionOpener } from '../../server/stream/hls/session/session-opener.ts'
import type { SessionSource } from '../../server/stream/hls/session/session-source.ts'
import { IndexStore } from '../../server/media/index/index-store.ts'
import { inspectRecording } from '../../server/media/index/inspect-recording.ts'
import { createMediaReaders } from '../../server/media/readers.ts'
import { withRecordedPlaylists } from '../../server/media/recorded/recorded-storage.ts'
import { isSettled } from '../../server/storage/recordings/settled.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { ROOT } from './memory-files.ts'
import type { Mount } from './recordings.ts'

export interface Serving {
  inspect: Inspect
  /** Requests the playlist of a session and all that it lists; the hash of each by its URL. */
  view(this: void, session: SessionReference): Promise<Map<string, string>>
}

/** A file that has not changed for this long counts as finished. */
export const SETTLE_SECONDS = 2
const log = { warn: () => undefined }
const onWriteError = (): void => undefined

export function createServing(
  { name, mount, catalog }: { name: string; mount: Mount; catalog: Catalog },
  signal: AbortSignal,
): Serving {
  // Recordings are single files here.
  const read = async (): Promise<never> => Promise.reject(new Error('there are no playlists'))
  const storage = withRecordedPlaylists(mount, { read })
  const readers = createMediaReaders()
  const recordFolder = `${ROOT}/${name}/indexes`
  const partFolders = new PartFolders(storage)
  const indexes = new IndexStore({
    folder: recordFolder,
    inspect: async (path, attempt, previous) =>
      inspectRecording(path, { storage, readers, signal: attempt, previous }),
    isSettled: (stat) => isSettled(stat, SETTLE_SECONDS, Date.now()),
    onWriteError,
  })
  const sessions = new SessionOpener({
    storage,
    partFolders,
    indexes,
    readers,
    readSubtitles: async () => Promise.reject(new Error('there are no subtitles')),
    settings: { segmentSeconds: 2, startSegmentSeconds: 2, encryption: 'none', secret: 'secret' },
    recordFolder,
    onWriteError,
    settleSeconds: SETTLE_SECONDS,
    transcodedAudio: new TranscodedAudio({
      transcoder: undefined,
      admission: createAdmission(),
      log,
      signal,
    }),
    artifacts: new SharedArtifacts({ store: new FolderArtifacts(`${ROOT}/shared`), log }),
    signal,
  })
  return {
    inspect: inspectIn({
      inspect: async (source, attempt) =>
        inspectSession(source, { storage, indexes, partFolders, signal: attempt }),
    }),
    async view(session) {
      const found = new Map<string, string>()
      try {
        const row = catalog.findSession(session)
        if (row !== undefined) await request(sessions, row, found)
      } catch (error) {
        // Visitors of a session that is replaced or hidden at this moment get an error, and those
        // of a node that stops.
        if (!isAppError(error) && !signal.aborted) throw error
      }
      return found
    },
  }
}

async function request(
  sessions: SessionOpener,
  row: SessionSource,
  found: Map<string, string>,
): Promise<void> {
  const opened = await sessions.open(row)
  const lines = await linesOf(opened)
  for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
    const [version = '', file = ''] = line.split('/').slice(-2)
    const address = { version, name: parseFileName(file), startPhase: () => () => undefined }
    const segment = await sessions.openFile(row, address)
    try {
      const hash = await hashOf(segment.file)
      found.set(`${row.streamer}/${row.date}/${row.sessionId}/${version}/${file}`, hash)
    } finally {
      await segment.session.close()
    }
  }
}

async function linesOf(opened: OpenSession): Promise<string[]> {
  try {
    return (await opened.playlist()).format().split('\n')
  } finally {
    await opened.close()
  }
}

async function hashOf(file: HlsFile): Promise<string> {
  if (file.kind !== 'segment') throw new TypeError('playlists list segments')
  const hash = createHash('sha256')
  for (const part of file.segment.body.parts) {
    if (part.kind === 'bytes') {
      hash.update(part.bytes)
      continue
    }
    const bytes = Buffer.alloc(part.length)
    const length = await file.segment.file.read(bytes, part.offset)
    hash.update(bytes.subarray(0, length))
  }
  await file.segment.checkUnchanged()
  return hash.digest('hex')
}
