// Copies a link to the current moment.
import { useEffect, useState } from 'react'
import { usePlayback } from '../playback/use-playback.ts'
import type { Playback } from '../playback/playback.ts'
import { copyText } from './copy-text.ts'
import { formatMoment } from '../../ui/format-moment.ts'
import styles from './controls.module.css'
import { Icon } from './icon.tsx'

interface CopyLinkButtonProps {
  playback: Playback
}

const CONFIRMATION_MS = 2000

export function CopyLinkButton({ playback }: CopyLinkButtonProps) {
  const seconds = usePlayback(playback, (state) => Math.floor(state.positionSeconds))
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return undefined
    const timer = setTimeout(() => setIsCopied(false), CONFIRMATION_MS)
    return () => clearTimeout(timer)
  }, [isCopied])

  function copy(): void {
    const url = new URL(location.pathname, location.href)
    if (seconds > 0) url.searchParams.set('t', String(seconds))
    void copyText(url.href).then(setIsCopied)
  }

  const moment = formatMoment(seconds)
  return (
    <>
      <button
        type="button"
        className={styles.control}
        aria-label={`Copy link at ${moment}`}
        onClick={copy}
      >
        <Icon name={isCopied ? 'done' : 'link'} />
        <span aria-hidden="true">Copy link at {moment}</span>
      </button>
      <output className={styles.announcement}>{isCopied ? 'Link copied' : ''}</output>
    </>
  )
}
