// The overlay of a pre-roll: video, ×, label and link. Plain DOM, because an ad blocker may remove
// it, which React does not survive.
import { translate } from '../../language/translate.ts'
import type { PrerollAd } from './load-vast.ts'
import styles from './preroll.module.css'

export interface PrerollOverlay {
  root: HTMLElement
  video: HTMLVideoElement
  close: HTMLButtonElement
  /** The click-through; undefined if the ad has none. */
  link: HTMLAnchorElement | undefined
  showRemaining: (seconds: number) => void
}

/** Creates the overlay; its video has no source yet. */
export function createOverlay({
  clickThroughUrl,
}: Pick<PrerollAd, 'clickThroughUrl'>): PrerollOverlay {
  const root = element('div', styles.cover)
  root.dataset['preroll'] = ''
  root.setAttribute('role', 'region')
  root.setAttribute('aria-label', translate('Advertisement'))
  const close = element('button', styles.close)
  close.type = 'button'
  close.setAttribute('aria-label', translate('Close ad'))
  close.textContent = '×'
  const label = element('p', styles.label)
  const remaining = element('span', styles.remaining)
  label.append(translate('Ad'), remaining)
  const link = clickThroughUrl === undefined ? undefined : createLink(clickThroughUrl)
  const video = createVideo()
  root.append(close, video, ...(link ? [link] : []), label)
  return {
    root,
    video,
    close,
    link,
    showRemaining(seconds) {
      const text = formatRemaining(seconds)
      if (remaining.textContent !== text) remaining.textContent = text
    },
  }
}

function createVideo(): HTMLVideoElement {
  const video = element('video', styles.video)
  // Must precede the source: browsers allow autoplay only of muted videos.
  video.muted = true
  video.defaultMuted = true
  video.autoplay = true
  video.playsInline = true
  video.disablePictureInPicture = true
  video.setAttribute('disableremoteplayback', '')
  return video
}

function createLink(url: string): HTMLAnchorElement {
  const link = element('a', styles.link)
  link.href = url
  link.target = '_blank'
  link.rel = 'noopener sponsored nofollow'
  const linkLabel = element('span', styles.linkLabel)
  linkLabel.textContent = translate('Visit advertiser')
  link.append(linkLabel)
  return link
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string | undefined,
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name)
  created.className = className ?? ''
  return created
}

function formatRemaining(seconds: number): string {
  const whole = Math.max(Math.ceil(seconds), 0)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
