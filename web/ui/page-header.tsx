// The header of every page: its `h1`, which is also the document title, and its controls.
import type { ReactNode } from 'react'
import { usePageView } from '../analytics/use-analytics.ts'
import { useDocumentTitle } from '../navigation/use-document-title.ts'
import styles from './page-header.module.css'

interface PageHeaderProps {
  heading: string
  /** The heading with each name in a `bdi` of its own; absent if it contains no name. */
  names?: ReactNode
  /** `page` is large; `session` leaves more space for the video. */
  size?: 'page' | 'session'
  /** The Back button, before the heading. */
  back?: ReactNode
  /** Controls of the page, after the heading. */
  children?: ReactNode
}

export function PageHeader(props: PageHeaderProps) {
  const { heading, names = heading, size = 'page', back, children } = props
  useDocumentTitle(heading)
  usePageView()
  return (
    <div className={styles.header}>
      {back && (
        <div className={size === 'page' ? styles.back : `${styles.back} ${styles.session}`}>
          {back}
        </div>
      )}
      {/* Receives focus after a navigation, so that screen readers announce the page. */}
      <h1
        className={size === 'page' ? styles.heading : `${styles.heading} ${styles.session}`}
        // A long name is clamped.
        title={props.names === undefined ? undefined : heading}
        tabIndex={-1}
      >
        {names}
      </h1>
      {children}
    </div>
  )
}
