// Marks of a tab from its first script on: the click, and the first frame of a video.
import type { Page } from '@playwright/test'

/** Milliseconds since the navigation that made the document. */
export interface Marks {
  clickedMs: number | undefined
  firstFrameMs: number | undefined
  /** Longest task on the main thread so far, milliseconds. */
  longestTaskMs: number
}

declare global {
  interface Window {
    marks: Marks
  }
}

/** Call it before the tab is led anywhere. */
export async function noteFirstFrame(page: Page): Promise<void> {
  await page.addInitScript(noteMarks)
}

/** Runs in a document before all else. */
export function noteMarks(): void {
  const marks: Marks = { clickedMs: undefined, firstFrameMs: undefined, longestTaskMs: 0 }
  window.marks = marks
  // The time of the event includes the browser's delay before it dispatches the event.
  const note = (event: Event): void => void (marks.clickedMs ??= event.timeStamp)
  addEventListener('click', note, { capture: true })
  const watcher = new MutationObserver(() => {
    const video = document.querySelector('video')
    if (!video) return
    watcher.disconnect()
    video.requestVideoFrameCallback(() => (marks.firstFrameMs = performance.now()))
  })
  watcher.observe(document, { childList: true, subtree: true })
}

/** Waits for the first frame. */
export async function readMarks(page: Page): Promise<Marks> {
  const seen = await page.waitForFunction(
    () => (window.marks.firstFrameMs === undefined ? undefined : window.marks),
    undefined,
    { polling: 50, timeout: 30_000 },
  )
  const marks = await seen.jsonValue()
  if (!marks) throw new Error('no frame was shown')
  return marks
}
