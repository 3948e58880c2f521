// Remembers where a browser could begin to decode: what there is to go back to where it cannot.

/** What failed to decode never played for so long. */
const PROVEN_SECONDS = 1

/** Answers the position at which decoding began when it last went well; the session's start where it never did. */
export function noteDecodableStart(video: HTMLVideoElement, signal: AbortSignal): () => number {
  let begunSeconds = 0
  let provenSeconds = 0
  const begin = () => void (begunSeconds = video.currentTime)
  // Decoding begins anew with every source and every seek.
  video.addEventListener('loadeddata', begin, { signal })
  video.addEventListener('seeked', begin, { signal })
  video.addEventListener(
    'timeupdate',
    () => {
      const hasPlayed = !video.seeking && video.currentTime - begunSeconds >= PROVEN_SECONDS
      if (hasPlayed && !video.error) provenSeconds = begunSeconds
    },
    { signal },
  )
  return () => provenSeconds
}
