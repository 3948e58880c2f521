// The video element of the player, with native controls.

/** Creates a detached element. */
export function createVideoElement(): HTMLVideoElement {
  const video = document.createElement('video')
  video.controls = true
  video.playsInline = true
  video.preload = 'auto'
  return video
}
