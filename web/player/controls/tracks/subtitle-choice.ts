// The subtitles that are shown: chosen, toggled, and remembered for other sessions.
import { findTrack, trackKey } from '../../../../shared/find-track.ts'
import { readPreferences, savePreferences } from '../../preferences.ts'

/** The tracks that a visitor can switch on. */
export function subtitleTracks(video: HTMLVideoElement): TextTrack[] {
  return Array.from(video.textTracks).filter(
    ({ kind }) => kind === 'subtitles' || kind === 'captions',
  )
}

/** Another origin must allow the page to read its files, for which the element has to ask. */
export function allowSubtitlesOf(video: HTMLVideoElement, origin: string): void {
  if (origin !== location.origin) video.crossOrigin = 'anonymous'
}

/** Shows one track, or none with -1. */
export function showSubtitles(video: HTMLVideoElement, shown: number): void {
  subtitleTracks(video).forEach((track, at) => {
    track.mode = at === shown ? 'showing' : 'disabled'
  })
}

/** Hides the subtitles, or shows those in the remembered language, else the first. */
export function toggleSubtitles(video: HTMLVideoElement): void {
  const tracks = subtitleTracks(video)
  const { subtitles } = readPreferences()
  showSubtitles(video, shownTrack(video) ? -1 : Math.max(0, findTrack(tracks, subtitles)))
}

/** Position of the remembered subtitles; -1 if there are none, or if they were hidden. */
export function rememberedSubtitles(tracks: readonly { language?: string | undefined }[]): number {
  const { showsSubtitles, subtitles } = readPreferences()
  return showsSubtitles ? findTrack(tracks, subtitles) : -1
}

/**
 * Remembers what is shown with whatever control: the browser has a menu of its own. Returns the
 * undo, which hides the subtitles.
 */
export function rememberSubtitles(video: HTMLVideoElement): () => void {
  const left = new AbortController()
  const { textTracks } = video
  let shown = shownTrack(video)
  const remember = ({ type }: Event) => {
    const now = shownTrack(video)
    if (now === shown) return
    shown = now
    if (type === 'change') save(video, now)
  }
  // The tracks of native HLS are removed with its source.
  for (const type of ['change', 'removetrack']) {
    textTracks.addEventListener(type, remember, { signal: left.signal })
  }
  return () => {
    left.abort()
    // The event of a choice just before may not have been sent yet.
    const chosen = shownTrack(video)
    if (chosen && chosen !== shown) save(video, chosen)
    // Otherwise Chromium shows subtitles of the next session, in any language.
    showSubtitles(video, -1)
  }
}

function save(video: HTMLVideoElement, shown: TextTrack | undefined): void {
  if (!shown) return savePreferences({ showsSubtitles: false })
  const tracks = subtitleTracks(video)
  savePreferences({ showsSubtitles: true, subtitles: trackKey(tracks, tracks.indexOf(shown)) })
}

/** Shows the remembered subtitles of native HLS, again for each source. Returns the undo. */
export function showRememberedSubtitles(video: HTMLVideoElement): () => void {
  const left = new AbortController()
  const show = () => {
    if (!shownTrack(video)) showSubtitles(video, rememberedSubtitles(subtitleTracks(video)))
  }
  video.textTracks.addEventListener('addtrack', show, { signal: left.signal })
  show()
  return () => left.abort()
}

function shownTrack(video: HTMLVideoElement): TextTrack | undefined {
  return subtitleTracks(video).find(({ mode }) => mode === 'showing')
}
