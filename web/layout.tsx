// The layout of every page above its footer: skip link, header, main, sidebar, ad.
import { useRef } from 'react'
import type { MouseEvent, ReactNode } from 'react'
import { Outlet } from 'react-router'
import { Link } from './ui/link.tsx'
import styles from './layout.module.css'
import { siteName } from './navigation/use-document-title.ts'
import { useNavigationEffects } from './navigation/use-navigation-effects.ts'
import type { VisitMemory } from './navigation/visit-memory.ts'
import { translate } from './language/translate.ts'

interface LayoutProps {
  visits: VisitMemory
  /** Shown in the header of every page, and reached after the page. */
  headerSlot?: ReactNode
  /** Beside the page. */
  sidebarSlot?: ReactNode
  footerSlot?: ReactNode
}

export function Layout({ visits, headerSlot, sidebarSlot, footerSlot }: LayoutProps) {
  const mainRef = useRef<HTMLElement>(null)
  useNavigationEffects(mainRef, visits)

  function skip(event: MouseEvent): void {
    // The fragment would add a history entry for Back.
    event.preventDefault()
    mainRef.current?.focus()
  }

  return (
    <div className="site-layout">
      <a className={styles.skip} href="#main" onClick={skip}>
        {translate('Skip to content')}
      </a>
      <header className="site-header">
        <p className="site-brand" translate="no">
          <svg viewBox="4 6 23 20" aria-hidden="true">
            <path className="glow" d="M8.5 22.5a11 11 0 0 1 0-13" />
            <path d="M13 9.6v12.8a1 1 0 001.5.9l10.6-6.4a1 1 0 000-1.8L14.5 8.7a1 1 0 00-1.5.9z" />
          </svg>
          {siteName()}
        </p>
        <nav aria-label={translate('Site')}>
          <Link className="site-home" to="/">
            {translate('Home')}
          </Link>
        </nav>
      </header>
      <div className={styles.columns}>
        <main ref={mainRef} id="main" className={styles.main} tabIndex={-1}>
          <Outlet />
        </main>
        {sidebarSlot}
      </div>
      {headerSlot}
      {/* The footer is in the HTML of the page, with the contact of the site. */}
      <div className={styles.footer}>{footerSlot}</div>
    </div>
  )
}
