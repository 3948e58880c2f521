// The video element of the player, with native controls.
import { readStartPreferences } from '../navigation/start-preferences.ts'

/** Creates a detached element with the remembered volume. */
export function createVideoElement(): HTMLVideoElement {
  const video = document.createElement('video')
  video.controls = true
  video.playsInline = true
  video.preload = 'auto'
  video.volume = readStartPreferences().volume
  return video
}
