// A 16:9 image that hides if it cannot be loaded, optionally replaced by letters.
import { useState } from 'react'
import type { ReactNode } from 'react'
import styles from './thumbnail.module.css'

interface ThumbnailProps {
  url: string
  /**
   * Index of the card in its list: the first images load eagerly, the very first with high
   * priority.
   */
  position: number
  /** Shown if the image fails. */
  letters?: string
  /** Badges over the image. */
  children?: ReactNode
}

/** Cards in the first row on a desktop. */
const EAGER_COUNT = 4

export function Thumbnail({ url, position, letters, children }: ThumbnailProps) {
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
        className={styles.image}
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
      {children}
    </div>
  )
}
