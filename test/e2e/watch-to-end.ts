// Plays a video to its end as fast as a browser can, and tells what was seen and heard of it on the way.
import type { Locator } from '@playwright/test'

/** What was seen of a video that was played to its end. */
export interface Watched {
  reached: 'ended' | 'stalled' | 'failed'
  currentTime: number
  duration: number
  /** Times at which the position was before the last one. */
  stepsBack: number
  /** The farthest that the position came, from one look to the next, beyond where it had been and what time and speed explain; seconds. */
  longestJump: number
  frames: number
  dropped: number
  /** Bytes of sound that the browser has decoded. */
  audioBytes: number
  error: string
}

export interface Watching {
  rate: number
  /** How long it may take to begin: the server may have much to index first. */
  startMs: number
  /** Longest time without progress that is not yet a stall. */
  stallMs: number
  /** How long the player may take to repair an error. */
  repairMs: number
}

/** Longer than any on a busy machine. */
const usual: Watching = { rate: 4, startMs: 60_000, stallMs: 20_000, repairMs: 0 }

/** Plays at speed, without sound, and watches until the end, an error, or a stall. */
export function watchToEnd(video: Locator, how: Partial<Watching> = {}): Promise<Watched> {
  return video.evaluate(
    (element: HTMLVideoElement, { rate, startMs, stallMs, repairMs }) =>
      new Promise<Watched>((resolve) => {
        // The page may have played all of a short recording before anybody looked: then it is played anew.
        if (element.ended) element.currentTime = 0
        const last = { position: element.currentTime, atMs: performance.now() }
        const began = last.position
        const seen = { farthest: last.position, movedAtMs: last.atMs, stepsBack: 0, longestJump: 0 }
        element.muted = true
        const timer = setInterval(() => {
          const hadBegun = seen.farthest > began
          lookup(performance.now())
          if (element.ended) finish('ended')
          else if (element.error && last.atMs - seen.movedAtMs > repairMs) finish('failed')
          else if (last.atMs - seen.movedAtMs > (hadBegun ? stallMs : startMs)) finish('stalled')
          // Only to begin with: what goes on must do so by itself.
          else if (!hadBegun) begin()
        }, 100)
        const begin = (): void => {
          if (element.readyState > 0) element.playbackRate = rate
          if (element.paused) element.play().catch(() => undefined)
        }
        const lookup = (nowMs: number): void => {
          const position = element.currentTime
          if (position < last.position) seen.stepsBack += 1
          if (position !== last.position) seen.movedAtMs = nowMs
          const explained = ((nowMs - last.atMs) / 1000) * rate
          seen.longestJump = Math.max(seen.longestJump, position - seen.farthest - explained)
          seen.farthest = Math.max(seen.farthest, position)
          Object.assign(last, { position, atMs: nowMs })
        }
        const finish = (reached: Watched['reached']): void => {
          clearInterval(timer)
          const quality = element.getVideoPlaybackQuality()
          const audioBytes: unknown = Reflect.get(element, 'webkitAudioDecodedByteCount')
          resolve({
            reached,
            currentTime: element.currentTime,
            duration: element.duration,
            stepsBack: seen.stepsBack,
            longestJump: seen.longestJump,
            frames: quality.totalVideoFrames,
            dropped: quality.droppedVideoFrames,
            audioBytes: typeof audioBytes === 'number' ? audioBytes : NaN,
            error: element.error?.message ?? '',
          })
        }
      }),
    { ...usual, ...how },
  )
}
