// The position of a video, in seconds.
import type { Locator } from '@playwright/test'

export async function seek(video: Locator, seconds: number): Promise<void> {
  await video.evaluate((element: HTMLVideoElement, at) => {
    element.currentTime = at
  }, seconds)
}

export function position(video: Locator): Promise<number> {
  return video.evaluate((element: HTMLVideoElement) => element.currentTime)
}
