// The chapters of a session as a list of buttons.
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { CSSProperties } from 'react'
import type { Playback } from '../../playback/playback.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import { translate } from '../../../language/translate.ts'
import { Name } from '../../../ui/name.tsx'
import { chapterAt } from './chapters.ts'
import type { Chapter } from './chapters.ts'
import { seekTo } from '../commands.ts'
import { formatMoment } from '../../../ui/format-moment.ts'
import styles from './chapter-list.module.css'

interface ChapterListProps {
  playback: Playback
  chapters: readonly Chapter[]
}

/** In CSS pixels, between a narrow video and the edge of the page. */
const MIN_SIDE = 200
const MAX_SIDE = 288
const SIDE_GAP = 16

export function ChapterList({ playback, chapters }: ChapterListProps) {
  const current = usePlayback(playback, (state) => chapterAt(chapters, state.positionSeconds))
  const listRef = useRef<HTMLOListElement>(null)
  const side = useSide(playback.video.parentElement)
  // The list scrolls, not the page, and not under the visitor's pointer.
  useEffect(() => {
    const list = listRef.current
    const item = list?.querySelector('[aria-current="true"]')?.parentElement
    if (!list || !item || list.matches(':hover')) return
    list.scrollTo(
      item.offsetLeft - (list.clientWidth - item.offsetWidth) / 2,
      item.offsetTop - (list.clientHeight - item.offsetHeight) / 2,
    )
  }, [current, side])
  return (
    <ol
      ref={listRef}
      className={side ? `${styles.list} ${styles.side}` : styles.list}
      style={side}
      aria-label={translate('Chapters')}
    >
      {chapters.map((chapter) => (
        <li key={`${chapter.startSeconds} ${chapter.title}`}>
          <button
            type="button"
            className={styles.chapter}
            aria-current={chapter === current}
            onClick={() => seekTo(playback, chapter.startSeconds)}
          >
            <span className={styles.time}>{formatMoment(chapter.startSeconds)}</span>
            <Name className={styles.title}>{chapter.title}</Name>
          </button>
        </li>
      ))}
    </ol>
  )
}

/** The size of a list beside the stage; undefined where there is no room. */
function useSide(stage: HTMLElement | null): CSSProperties | undefined {
  const [side, setSide] = useState<CSSProperties>()
  useLayoutEffect(() => {
    const player = stage?.parentElement
    if (!stage || !player) return undefined
    const measure = () => {
      const room = (player.clientWidth - stage.offsetWidth) / 2 - SIDE_GAP
      const inlineSize = Math.min(room, MAX_SIDE)
      const { chat, views } = player.dataset
      const isTaken = chat === 'beside' || views !== undefined
      setSide(
        isTaken || room < MIN_SIDE ? undefined : { inlineSize, blockSize: stage.offsetHeight },
      )
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(stage)
    observer.observe(player)
    return () => observer.disconnect()
  }, [stage])
  return side
}
