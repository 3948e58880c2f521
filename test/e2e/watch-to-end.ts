// Plays a video to its end at a high rate, and reports what was shown and heard.
import type { Locator } from '@playwright/test'
import { patienceMs } from '../support/patience.ts'

/** Observations of a video that was played to its end. */
export interface Watched {
  reached: 'ended' | 'stalled' | 'failed'
  currentTime: number
  duration: number
  /**
   * Moves of the position backwards, from and to: by a seek, or by more than the clock of a browser
   * that waits for data is corrected by at a high rate.
   */
  stepsBack: string[]
  /**
   * Largest seek forwards, in seconds: how a player skips what it cannot play. Steps of the
   * position itself also depend on how late a busy machine reports it.
   */
  longestJump: number
  /** Decoded video frames, also those that the browser drops at a high rate. */
  frames: number
  /** Decoded bytes of audio. */
  audioBytes: number
  error: string
}

/** What a browser's clock is ahead at most, at eight times the speed. */
const clockSeconds = 1
/** A seek to the position where it is can be some microseconds before it. */
const roundingSeconds = 0.001

/** At four times the speed Chromium still decodes all audio. */
const playbackRate = 4

/**
 * Plays muted until the end. A stall or an error is final only after a time that no busy machine
 * needs.
 */
export function watchToEnd(video: Locator, rate = playbackRate): Promise<Watched> {
  return video.evaluate(
    async (element: HTMLVideoElement, { rate, limitMs, clockSeconds, roundingSeconds }) => {
      // A short recording may have ended before this runs: then it is played again.
      if (element.ended) {
        const { promise, resolve } = Promise.withResolvers<unknown>()
        element.addEventListener('seeked', resolve, { once: true })
        element.currentTime = 0
        await promise
      }
      return new Promise<Watched>((resolve) => {
        const last = { position: element.currentTime, atMs: performance.now() }
        const start = last.position
        const seen = { farthest: last.position, movedAtMs: last.atMs, longestJump: 0 }
        const stepsBack: string[] = []
        const addStep = (how: string): void => {
          stepsBack.push(`${how}: ${last.position} to ${element.currentTime}`)
        }
        element.muted = true
        const onSeeking = (): void => {
          const explained = ((performance.now() - last.atMs) / 1000) * rate
          const jump = element.currentTime - seen.farthest - explained
          seen.longestJump = Math.max(seen.longestJump, jump)
          if (element.currentTime < last.position - roundingSeconds) addStep('seek')
        }
        element.addEventListener('seeking', onSeeking)
        const timer = setInterval(() => {
          const hasStarted = seen.farthest > start
          observe(performance.now())
          if (element.ended) finish('ended')
          else if (last.atMs - seen.movedAtMs > limitMs)
            finish(element.error ? 'failed' : 'stalled')
          // Only at the start: later on playback must continue without help.
          else if (!hasStarted) play()
        }, 100)
        const play = (): void => {
          if (element.readyState > 0) element.playbackRate = rate
          if (element.paused) element.play().catch(() => undefined)
        }
        const observe = (nowMs: number): void => {
          const position = element.currentTime
          if (position < last.position - clockSeconds) addStep('clock')
          if (position !== last.position) seen.movedAtMs = nowMs
          seen.farthest = Math.max(seen.farthest, position)
          Object.assign(last, { position, atMs: nowMs })
        }
        const finish = (reached: Watched['reached']): void => {
          clearInterval(timer)
          element.removeEventListener('seeking', onSeeking)
          const audioBytes: unknown = Reflect.get(element, 'webkitAudioDecodedByteCount')
          resolve({
            reached,
            currentTime: element.currentTime,
            duration: element.duration,
            stepsBack,
            longestJump: seen.longestJump,
            frames: element.getVideoPlaybackQuality().totalVideoFrames,
            audioBytes: typeof audioBytes === 'number' ? audioBytes : NaN,
            error: element.error?.message ?? '',
          })
        }
      })
    },
    { rate, limitMs: patienceMs, clockSeconds, roundingSeconds },
  )
}
