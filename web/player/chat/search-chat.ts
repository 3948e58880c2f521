// Searches the buckets of a chat one after the other, from its start on.
import type { ChatMessage } from './chat-source.ts'
import type { ChatSource } from './chat-source.ts'

export interface ChatQuery {
  /** In the text or name of a message, in any case; empty for all messages. */
  text: string
  /** Of this user alone. */
  user: string | undefined
}

export interface ChatFindings {
  messages: readonly ChatMessage[]
  /** Buckets with messages that were searched, of all. */
  searched: number
  total: number
  isSearching: boolean
}

export const NO_FINDINGS: ChatFindings = { messages: [], searched: 0, total: 0, isSearching: true }
/** A search pauses after as many new messages, */
const MAX_FOUND = 200
/** or buckets. */
const MAX_SEARCHED = 240

/**
 * Continues a search until it pauses, or until a bucket cannot be loaded, and reports its progress.
 * Never rejects.
 */
export async function searchChat(
  { source, query, before }: { source: ChatSource; query: ChatQuery; before: ChatFindings },
  signal: AbortSignal,
  onProgress: (findings: ChatFindings) => void,
): Promise<void> {
  const state = source.read()
  const counts = state.status === 'loaded' ? state.value.counts : []
  const numbers = [...counts.keys()].filter((bucket) => (counts[bucket] ?? 0) > 0)
  let { messages, searched } = before
  const findings = (isSearching: boolean): ChatFindings => ({
    messages,
    searched,
    total: numbers.length,
    isSearching,
  })
  for (const bucket of numbers.slice(before.searched, before.searched + MAX_SEARCHED)) {
    const found = await source.bucket(bucket, signal).catch(() => undefined)
    if (signal.aborted) return
    // It continues with this bucket.
    if (!found) break
    messages = [...messages, ...found.filter((message) => isMatch(message, query))]
    searched += 1
    if (messages.length - before.messages.length >= MAX_FOUND) break
    onProgress(findings(true))
  }
  onProgress(findings(false))
}

function isMatch({ text, user }: ChatMessage, query: ChatQuery): boolean {
  if (query.user !== undefined && user !== query.user) return false
  const wanted = query.text.toLowerCase()
  const isOfName = query.user === undefined && user.toLowerCase().includes(wanted)
  return isOfName || text.toLowerCase().includes(wanted)
}
