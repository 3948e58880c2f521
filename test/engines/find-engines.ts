// The browser engines of this machine, and what their tests ask of a page with a video.
import type { Browser } from '@playwright/test'
import { findProgram, findPrograms } from '../../scripts/programs.mjs'
import type { EnginePage } from './engine-page.ts'
import { openFirefoxPage, openPlaywrightPage } from './playwright-page.ts'
import { openWebKitPage } from './webkit-page.ts'

interface Engine {
  name: string
  open(this: void, browser: Browser): Promise<EnginePage>
}

/** `npm test` lists the engines that the machine lacks; with CI=true it requires them all. */
export function findEngines(): Engine[] {
  const firefox = findProgram('Firefox')
  const webKit = findPrograms('WebKitGTK')
  return [
    { name: 'Chromium', open: openPlaywrightPage },
    ...(firefox ? [{ name: 'Firefox', open: () => openFirefoxPage(firefox) }] : []),
    ...(webKit ? [{ name: 'WebKitGTK', open: () => openWebKitPage(webKit) }] : []),
  ]
}

/** The element of the recording, not that of an ad. */
export const mainVideo = `document.querySelector('video:not([data-preroll] video)')`

/** Starts the video and returns its position. No browser refuses to play muted video. */
export const playMuted = `(() => {
  const video = ${mainVideo}
  if (!video) return -1
  video.muted = true
  if (video.paused) video.play().catch(() => undefined)
  return video.currentTime
})()`
