// The chapters of a session as a list of buttons.
import { useEffect, useRef } from 'react'
import type { Playback } from '../../playback/playback.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import { chapterAt } from './chapters.ts'
import type { Chapter } from './chapters.ts'
import { seekTo } from '../commands.ts'
import { formatMoment } from '../../../ui/format-moment.ts'
import styles from './chapter-list.module.css'

interface ChapterListProps {
  playback: Playback
  chapters: readonly Chapter[]
}

export function ChapterList({ playback, chapters }: ChapterListProps) {
  const current = usePlayback(playback, (state) => chapterAt(chapters, state.positionSeconds))
  const listRef = useRef<HTMLOListElement>(null)
  // The list scrolls, not the page, and not under the visitor's pointer.
  useEffect(() => {
    const list = listRef.current
    const item = list?.querySelector('[aria-current="true"]')?.parentElement
    if (!list || !item || list.matches(':hover')) return
    list.scrollLeft = item.offsetLeft - (list.clientWidth - item.offsetWidth) / 2
  }, [current])
  return (
    <ol ref={listRef} className={styles.list} aria-label="Chapters">
      {chapters.map((chapter) => (
        <li key={`${chapter.startSeconds} ${chapter.title}`}>
          <button
            type="button"
            className={styles.chapter}
            aria-current={chapter === current}
            onClick={() => seekTo(playback, chapter.startSeconds)}
          >
            <span className={styles.time}>{formatMoment(chapter.startSeconds)}</span>
            <bdi className={styles.title}>{chapter.title}</bdi>
          </button>
        </li>
      ))}
    </ol>
  )
}
