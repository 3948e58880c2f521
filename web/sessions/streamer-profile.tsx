// Who streams: avatar, name, description and links of a streamer.
import type { DetailsResponse } from '../../shared/contract.ts'
import { translate } from '../language/translate.ts'
import { Name } from '../ui/name.tsx'
import styles from './streamer-profile.module.css'

interface StreamerProfileProps {
  details: DetailsResponse
  avatarUrl: string
}

/** Nothing if the details have none of them. */
export function StreamerProfile({ details, avatarUrl }: StreamerProfileProps) {
  const { displayName, description, links = [], avatarUrl: avatarPath } = details
  if (!(displayName ?? description ?? avatarPath) && links.length === 0) return null
  return (
    <section className={styles.profile} aria-label={translate('About the streamer')}>
      {avatarPath !== undefined && <img className={styles.avatar} src={avatarUrl} alt="" />}
      <div className={styles.text}>
        {displayName !== undefined && (
          <p className={styles.name}>
            <Name>{displayName}</Name>
          </p>
        )}
        {description !== undefined && (
          <p dir="auto" className={styles.description}>
            {description}
          </p>
        )}
        {links.length > 0 && (
          <ul className={styles.links} aria-label={translate('Links')}>
            {links.map(({ label, url }) => (
              <li key={url}>
                <a href={url} target="_blank" rel="noopener nofollow ugc">
                  <Name>{label}</Name>
                </a>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  )
}
