// The page for unknown paths.
import { Link } from './ui/link.tsx'
import buttonStyles from './ui/button.module.css'
import { PageHeader } from './ui/page-header.tsx'
import { translate } from './language/translate.ts'

export function NotFoundPage() {
  return (
    <>
      <PageHeader heading={translate('Page not found')} />
      <Link className={buttonStyles.primary} to="/">
        {translate('All streamers')}
      </Link>
    </>
  )
}
