// Sets the document title.
import { useEffect } from 'react'

/**
 * `title`, followed by the name of the site. The title of the HTML stays if it is the same with the
 * title of the session before it, which the page does not know yet.
 */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    const next = `${title} · ${siteName()}`
    if (!document.title.endsWith(` · ${next}`)) document.title = next
  }, [title])
}

/** The last part of each title, also of that in the HTML of the page. */
export function siteName(): string | undefined {
  return document.title.split(' · ').at(-1)
}
