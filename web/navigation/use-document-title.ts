// Keeps the title of the tab.
import { useEffect } from 'react'

/** Shows `title` in the tab, followed by the name of the site. */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Aftercast`
  }, [title])
}
