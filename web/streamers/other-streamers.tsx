// The first streamers, for the page of one that is not listed.
import type { PageApi } from '../api/page-api.ts'
import { useResource } from '../api/use-resource.ts'
import buttonStyles from '../ui/button.module.css'
import { CardList } from '../ui/card-list.tsx'
import { Link } from '../ui/link.tsx'
import { translate } from '../language/translate.ts'
import { streamerCards } from './streamer-card.tsx'
import styles from './streamers-page.module.css'

interface OtherStreamersProps {
  api: PageApi
  streamer: string
}

const LIMIT = 12

/** Nothing if `streamer` is listed: its sessions could not be loaded, or are gone just now. */
export function OtherStreamers({ api, streamer }: OtherStreamersProps) {
  const list = useResource(api.streamers())
  if (list.status !== 'loaded' || list.value.some(({ name }) => name === streamer)) return null
  const cards = streamerCards(api, list.value.slice(0, LIMIT))
  return (
    <>
      <CardList label={translate('Streamers')} layout="dense" cards={cards} />
      <Link className={`${buttonStyles.primary} ${styles.all}`} to="/">
        {translate('All streamers')}
      </Link>
    </>
  )
}
