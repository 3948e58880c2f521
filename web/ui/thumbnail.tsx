// A 16:9 picture that hides itself when it cannot be loaded, and may leave letters in its place.
import { useState } from 'react'
import styles from './thumbnail.module.css'

interface ThumbnailProps {
  url: string
  /** Place of the card in its list: the first pictures are loaded at once, the very first before all others. */
  position: number
  /** Shown where the picture fails. */
  letters?: string
}

/** Pictures in the first row of a desktop. */
const EAGER_COUNT = 4

export function Thumbnail({ url, position, letters }: ThumbnailProps) {
  const [failedUrl, setFailedUrl] = useState<string>()
  const hasFailed = failedUrl === url
  const isLettered = hasFailed && letters !== undefined
  return (
    <div className={isLettered ? `${styles.frame} ${styles.lettered}` : styles.frame}>
      {isLettered && (
        <span className={styles.letters} aria-hidden="true">
          {letters}
        </span>
      )}
      <img
        className={styles.picture}
        src={url}
        hidden={hasFailed}
        alt=""
        width={640}
        height={360}
        decoding="async"
        loading={position < EAGER_COUNT ? 'eager' : 'lazy'}
        fetchPriority={position === 0 ? 'high' : 'auto'}
        onError={() => setFailedUrl(url)}
      />
    </div>
  )
}
