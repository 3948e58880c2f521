// Which recordings of a session are requested, in which state, and when each started. Pure.
import { parseRecordingName, stripEndings } from '../../../library/catalog/names/recording-name.ts'
import { plausibleStart, startTimeMs } from '../../../library/catalog/names/start-time.ts'
import { isSettled, isUnchanged } from '../../../storage/recordings/settled.ts'
import type { FileStat } from '../../../storage/recordings/storage.ts'
import type { RecordingRequest } from './hls-recordings.ts'
import type { PartFile } from './part-folders.ts'
import type { KnownStart, SessionSource } from './session-source.ts'
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

/** When a part started by the recorder's playlist, else by its own name. */
export function partStart({
  path,
  startMs,
}: Pick<RecordingRequest, 'path' | 'startMs'>): KnownStart | undefined {
  const listedMs = startMs === undefined ? undefined : plausibleStart(startMs)
  if (listedMs !== undefined) return knownStart(listedMs, 'playlist')
  const name = path.slice(path.lastIndexOf('/') + 1)
  const fileName = parseRecordingName(name)?.base ?? name
  return knownStart(startTimeMs({ date: '', sessionId: '', fileName }), 'path')
}

/** When a session started by its row of the catalog. */
export function sourceStart({ startMs, startFrom }: SessionSource): KnownStart | undefined {
  return knownStart(startMs, startFrom ?? 'path')
}

function knownStart(ms: number | undefined, from: KnownStart['from']): KnownStart | undefined {
  return ms === undefined ? undefined : { ms, from }
}

/**
 * The start of each part, or of none: players derive that of a part without one from the parts
 * around it. Without a start of its own, a part starts where the previous one ends. If sidecars
 * contradict the first part's own start, all parts move with it.
 *
 * @param session start of the session, if its first part is listed
 */
export function withStarts(
  session: KnownStart | undefined,
  parts: readonly ListedRecording[],
): ListedRecording[] {
  const own = parts[0]?.start
  const first = session?.from === 'metadata' ? session : (own ?? session)
  const shiftMs = first && own ? first.ms - own.ms : 0
  let next = first
  return parts.map((part, at) => {
    const ownMs = at === 0 ? undefined : part.start?.ms
    const start = next && { ...next, ms: ownMs === undefined ? next.ms : ownMs + shiftMs }
    next = start && { ...start, ms: start.ms + part.recording.listedSeconds * 1000 }
    return { ...part, start }
  })
}
