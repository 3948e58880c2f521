// The chapters of a session as a list of buttons.
import type { Playback } from '../../playback/playback.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import { chapterAt } from './chapters.ts'
import type { Chapter } from './chapters.ts'
import { seekTo } from '../commands.ts'
import { formatMoment } from '../format-moment.ts'
import styles from './chapter-list.module.css'

interface ChapterListProps {
  playback: Playback
  chapters: readonly Chapter[]
}

export function ChapterList({ playback, chapters }: ChapterListProps) {
  const current = usePlayback(playback, (state) => chapterAt(chapters, state.positionSeconds))
  return (
    <ol className={styles.list} aria-label="Chapters">
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
