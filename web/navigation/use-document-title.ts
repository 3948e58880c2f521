// Sets the document title.
import { useEffect } from 'react'

/** `title`, followed by the name of the site. */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${siteName()}`
  }, [title])
}

/** The last part of each title, also of that in the HTML of the page. */
export function siteName(): string | undefined {
  return document.title.split(' · ').at(-1)
}
