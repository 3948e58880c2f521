// Who streams: avatar, name, description and links of a streamer.
import type { DetailsResponse } from '../../shared/contract.ts'
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
    <section className={styles.profile} aria-label="About the streamer">
      {avatarPath !== undefined && <img className={styles.avatar} src={avatarUrl} alt="" />}
      <div className={styles.text}>
        {displayName !== undefined && (
          <p className={styles.name}>
            <bdi>{displayName}</bdi>
          </p>
        )}
        {description !== undefined && <p className={styles.description}>{description}</p>}
        {links.length > 0 && (
          <ul className={styles.links} aria-label="Links">
            {links.map(({ label, url }) => (
              <li key={url}>
                <a href={url} target="_blank" rel="noopener nofollow ugc">
                  <bdi>{label}</bdi>
                </a>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  )
}
