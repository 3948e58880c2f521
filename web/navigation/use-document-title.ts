// Sets the document title.
import { useEffect } from 'react'

/** `title`, followed by the name of the site. */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Aftercast`
  }, [title])
}
