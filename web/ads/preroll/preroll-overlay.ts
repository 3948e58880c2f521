// The picture of a pre-roll: video, ×, label and link. Plain DOM that is not React's, for an ad
// blocker may take it away.
import type { PrerollAd } from './load-vast.ts'
import styles from './preroll.module.css'

export interface PrerollOverlay {
  root: HTMLElement
  video: HTMLVideoElement
  close: HTMLButtonElement
  /** Where a click leads; undefined where the ad leads nowhere. */
  link: HTMLAnchorElement | undefined
  showRemaining: (seconds: number) => void
}

/** Makes the overlay; nothing plays before its video has been given a source and is on the page. */
export function createOverlay({
  clickThroughUrl,
}: Pick<PrerollAd, 'clickThroughUrl'>): PrerollOverlay {
  const root = element('div', styles.cover)
  root.dataset['preroll'] = ''
  root.setAttribute('role', 'region')
  root.setAttribute('aria-label', 'Advertisement')
  const close = element('button', styles.close)
  close.type = 'button'
  close.setAttribute('aria-label', 'Close ad')
  close.textContent = '×'
  const label = element('p', styles.label)
  const remaining = element('span', styles.remaining)
  label.append('Ad', remaining)
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
  // Before it has a source: browsers decide by it whether it may play.
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
  const words = element('span', styles.words)
  words.textContent = 'Visit advertiser'
  link.append(words)
  return link
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string | undefined,
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  made.className = className ?? ''
  return made
}

function formatRemaining(seconds: number): string {
  const whole = Math.max(Math.ceil(seconds), 0)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
