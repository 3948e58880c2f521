// The element that a session plays in, with the browser's own controls.

/** In no document yet. */
export function createVideoElement(): HTMLVideoElement {
  const video = document.createElement('video')
  video.controls = true
  video.playsInline = true
  video.preload = 'auto'
  return video
}
