// The chats that `aftercast check` reports: those that exceed a limit.
import { splitPath } from '../../storage/recordings/library-path.ts'
import { isAppError } from '../../base/errors.ts'
import { formatProblem } from '../../base/problem-text.ts'
import type { SessionRow } from '../../library/catalog/catalog.ts'
import type { Library } from '../library.ts'
import type { CheckedProblem, CheckedRecording } from './check-report.ts'

type ChatSources = Pick<Library, 'catalog' | 'chatFiles' | 'readChat'>

/** The recordings of the report and of refused chats, sorted by path. Reads each chat. */
export async function addRefusedChats(
  recordings: readonly CheckedRecording[],
  library: ChatSources,
  signal: AbortSignal,
): Promise<CheckedRecording[]> {
  const byPath = new Map(recordings.map((recording) => [recording.path, recording]))
  const { catalog } = library
  for (const { name } of catalog.listStreamers()) {
    const limit = catalog.countSessions(name)
    for (const row of catalog.sessionsAt(name, { offset: 0, limit })) {
      const problem = await findProblem(row, library, signal)
      if (problem === undefined) continue
      const { path, streamer, date, sessionId } = row
      const known = byPath.get(path)
      const session = { path, streamer, date, sessionId, outcome: 'limited' as const }
      byPath.set(path, { ...session, ...known, problems: [...(known?.problems ?? []), problem] })
    }
  }
  const order = (a: string, b: string): number => (a < b ? -1 : 1)
  return [...byPath.values()].toSorted((a, b) => order(a.path, b.path))
}

async function findProblem(
  row: SessionRow,
  { chatFiles, readChat }: ChatSources,
  signal: AbortSignal,
): Promise<CheckedProblem | undefined> {
  try {
    const files = await chatFiles.find(row, signal)
    if (files.length === 0) return undefined
    const parts = [{ startSeconds: 0, durationSeconds: 0 }]
    const job = {
      files: files.map(({ path, stat: { version } }) => ({ path, version, parts })),
      isGrowing: true,
      offsetSeconds: 0,
      hiddenUsers: [],
    }
    const outcome = await readChat(job)
    if (outcome.status === 'read' || outcome.reason === undefined) return undefined
    const name = splitPath(files[0]?.path ?? '')?.name
    const part = files.length === 1 && name !== undefined ? { part: name } : {}
    const problem = { code: 'chat-not-served' as const, cause: outcome.reason, ...part }
    return { ...problem, ...formatProblem(problem) }
  } catch (error) {
    // Unreadable files are no chats.
    if (!isAppError(error, 'not_found', 'gone', 'failed')) throw error
    return undefined
  }
}
