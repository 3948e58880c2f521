// Which recordings of a session are requested, in which state, and when each started. Pure.
import { parseRecordingName, stripEndings } from '../../../library/catalog/names/recording-name.ts'
import { startTimeMs } from '../../../library/catalog/names/start-time.ts'
import { isSettled, isUnchanged } from '../../../storage/recordings/settled.ts'
import type { FileStat } from '../../../storage/recordings/storage.ts'
import type { RecordingRequest } from './hls-recordings.ts'
import type { PartFile } from './part-folders.ts'
import type { SessionSource } from './session-source.ts'
import type { ListedRecording } from './session-playlists.ts'

/** A part that is followed by another one counts as finished after this time. */
const FOLLOWED_SETTLE_SECONDS = 6

export interface Settling {
  /** A recording without a write for this time counts as finished. */
  settleSeconds: number
  nowMs: number
}

/** The request for a session that is one file. */
export function fileRequest(
  session: SessionSource,
  stat: FileStat,
  { settleSeconds, nowMs }: Settling,
): RecordingRequest {
  const state = isSettled(stat, settleSeconds, nowMs) ? 'finished' : 'growing'
  const { path } = session
  return { session, path, name: '', stat, state, isFirst: true, isInEvent: false }
}

/** The requests for a folder of parts. Nothing is listed after a growing part: it would move. */
export function folderRequests(
  session: SessionSource,
  files: readonly PartFile[],
  { settleSeconds, nowMs, isInEvent }: Settling & { isInEvent: boolean },
): RecordingRequest[] {
  const requests: RecordingRequest[] = []
  for (const { path, name, stat, startMs } of files) {
    const isLast = requests.length === files.length - 1
    const seconds = isLast ? settleSeconds : Math.min(settleSeconds, FOLLOWED_SETTLE_SECONDS)
    const state = isUnchanged(stat, seconds, nowMs) ? 'finished' : 'growing'
    const isFirst = requests.length === 0
    const base = stripEndings(name)
    requests.push({ session, path, name: base, stat, startMs, state, isFirst, isInEvent })
    if (state === 'growing') break
  }
  return requests
}

/** When a part started: from the recorder's playlist, its own name, or the session's start. */
export function partStartMs(
  session: SessionSource,
  { path, startMs }: RecordingRequest,
  number: number,
): number | undefined {
  if (startMs !== undefined) return startMs
  const name = path.slice(path.lastIndexOf('/') + 1)
  const fileName = parseRecordingName(name)?.base ?? name
  const ownMs = startTimeMs({ date: '', sessionId: '', fileName })
  return ownMs ?? (number === 0 ? session.startMs : undefined)
}

/** A part without a start time starts where the previous one ends. */
export function withElapsedStarts(parts: readonly ListedRecording[]): ListedRecording[] {
  let nextMs: number | undefined
  return parts.map((part) => {
    const startMs = part.startMs ?? nextMs
    nextMs = startMs === undefined ? undefined : startMs + part.recording.listedSeconds * 1000
    return { ...part, startMs }
  })
}
