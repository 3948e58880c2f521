// The header of every page: its `h1`, which is also the document title, and its controls.
import type { ReactNode } from 'react'
import { usePageView } from '../analytics/use-analytics.ts'
import { useDocumentTitle } from '../navigation/use-document-title.ts'
import styles from './page-header.module.css'

interface PageHeaderProps {
  heading: string
  /** `page` is large; `session` leaves more space for the video. */
  size?: 'page' | 'session'
  /** The Back button, before the heading. */
  back?: ReactNode
  /** Controls of the page, after the heading. */
  children?: ReactNode
}

export function PageHeader({ heading, size = 'page', back, children }: PageHeaderProps) {
  useDocumentTitle(heading)
  usePageView()
  return (
    <div className={styles.header}>
      {back}
      {/* Receives focus after a navigation, so that screen readers announce the page. */}
      <h1
        className={size === 'page' ? styles.heading : `${styles.heading} ${styles.session}`}
        dir="auto"
        tabIndex={-1}
      >
        {heading}
      </h1>
      {children}
    </div>
  )
}
