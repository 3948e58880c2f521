// Follows the position of the video: the messages up to it, within a tenth of a second.
import type { Playback } from '../playback/playback.ts'
import { ChatBuckets, messagesUpTo, planBuckets } from './chat-buckets.ts'
import type { ChatMessage } from './chat-source.ts'
import type { ChatSource } from './chat-source.ts'

interface FollowOptions {
  playback: Playback
  source: ChatSource
  /** Messages come later by these seconds. */
  offsetSeconds: number
  /** Called at first, and with other messages than before. */
  onMessages(this: void, messages: readonly ChatMessage[]): void
}

/** More often, rendering would cost more than it shows. */
const UPDATE_MS = 100

/** Returns the undo. It does nothing while the page is hidden, and has no timer while paused. */
export function followPlayback(options: FollowOptions): () => void {
  const { playback, source, offsetSeconds, onMessages } = options
  const { video } = playback
  const left = new AbortController()
  const { signal } = left
  const buckets = new ChatBuckets(source, signal, update)
  let shown: readonly ChatMessage[] | undefined
  let updatedAtMs = 0
  let frame = 0

  function update(): void {
    const state = source.read()
    if (document.hidden || signal.aborted || state.status !== 'loaded') return
    // A session that the browser cannot decode has a position, too.
    const isPlayed = playback.read().phase !== 'undecodable'
    const position = isPlayed ? video.currentTime : playback.read().positionSeconds
    const seconds = position - offsetSeconds
    const plan = planBuckets(state.value, seconds)
    buckets.need(plan)
    const messages = messagesUpTo(plan, seconds, buckets.find)
    if (!shown || !isSame(messages, shown)) onMessages((shown = messages))
  }

  function schedule(): void {
    frame = video.paused || video.ended ? 0 : requestAnimationFrame(onFrame)
  }

  function onFrame(nowMs: number): void {
    schedule()
    if (nowMs - updatedAtMs < UPDATE_MS) return
    updatedAtMs = nowMs
    update()
  }

  function onPlayback(): void {
    if (frame === 0) schedule()
    update()
  }

  const stops = [playback.subscribe(onPlayback), source.subscribe(update)]
  document.addEventListener('visibilitychange', update, { signal })
  onPlayback()
  return () => {
    left.abort()
    cancelAnimationFrame(frame)
    for (const stop of stops) stop()
  }
}

/** Lists of the same chat. */
function isSame(some: readonly ChatMessage[], others: readonly ChatMessage[]): boolean {
  const ends = (list: readonly ChatMessage[]) => [list.length, list[0]?.id, list.at(-1)?.id]
  return ends(some).join() === ends(others).join()
}
