// The subtitle tracks of a video element, as its events report them.
import { useEffect, useState } from 'react'
import { subtitleTracks } from './subtitle-choice.ts'

export interface Subtitles {
  label: string
  /** BCP 47; empty if unknown. */
  language: string
  isShown: boolean
}

/** In the order of the element, whoever added them or shows them. */
export function useSubtitles(video: HTMLVideoElement): readonly Subtitles[] {
  const [tracks, setTracks] = useState<readonly Subtitles[]>([])
  useEffect(() => {
    const left = new AbortController()
    const update = () => setTracks(subtitleTracks(video).map(describe))
    for (const type of ['change', 'addtrack', 'removetrack']) {
      video.textTracks.addEventListener(type, update, { signal: left.signal })
    }
    update()
    return () => left.abort()
  }, [video])
  return tracks
}

function describe({ label, language, mode }: TextTrack): Subtitles {
  return { label, language, isShown: mode === 'showing' }
}
