// The page for unknown paths.
import { Link } from './ui/link.tsx'
import buttonStyles from './ui/button.module.css'
import { PageHeader } from './ui/page-header.tsx'

export function NotFoundPage() {
  return (
    <>
      <PageHeader heading="Page not found" />
      <Link className={buttonStyles.primary} to="/">
        All streamers
      </Link>
    </>
  )
}
