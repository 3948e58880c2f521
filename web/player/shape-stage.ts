// The shape of the stage: that of the video, or a tile for audio alone.

interface StageOptions {
  /** The text of a tile. */
  label: string
  /** URL of the image that replaces the text, if it can be loaded. */
  audioPoster: string
  /** URL of the image of a video whose sound is played alone; undefined if its frames are. */
  soundPoster(this: void): string | undefined
}

/** Follows the size of the video. Returns the undo. */
export function shapeStage(
  stage: HTMLElement,
  video: HTMLVideoElement,
  { label, audioPoster, soundPoster }: StageOptions,
): () => void {
  const left = new AbortController()
  const { signal } = left
  const shape = () => {
    const { readyState, videoWidth, videoHeight } = video
    if (readyState < HTMLMediaElement.HAVE_METADATA) return
    if (videoWidth > 0) return setRatio(stage, videoWidth, videoHeight)
    const poster = soundPoster()
    if (poster !== undefined) return void (video.poster = poster)
    stage.dataset['audio'] = label
    const image = new Image()
    image.addEventListener('load', showImage, { signal })
    image.src = audioPoster
  }
  const showImage = () => {
    stage.dataset['audio'] = ''
    video.poster = audioPoster
  }
  const [width, height] = thumbnailSize()
  if (width && height) setRatio(stage, width, height)
  shape()
  // Of native HLS, the size may change.
  for (const type of ['loadedmetadata', 'resize']) video.addEventListener(type, shape, { signal })
  return () => {
    left.abort()
    delete stage.dataset['audio']
    stage.style.removeProperty('--ratio')
  }
}

function setRatio(stage: HTMLElement, width: number, height: number): void {
  stage.style.setProperty('--ratio', `calc(${width} / ${height})`)
}

/** In the head of the page, from the server: what is shown first moves least. */
function thumbnailSize(): number[] {
  const read = (name: string) =>
    document.querySelector<HTMLMetaElement>(`meta[property="og:image${name}"]`)?.content ?? ''
  const [url, path] = [read(''), location.pathname.slice(location.pathname.indexOf('/p/') + 2)]
  return url.endsWith(`/api/thumbnail${path}`)
    ? [Number(read(':width')), Number(read(':height'))]
    : []
}
