// Previews the session on whose card a mouse rests.
import { parseSessionPath, playerPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { isDataSaverOn } from './visit/data-saver.ts'

/** A pointer that only crosses a card leaves sooner. */
const REST_MS = 500

/** Follows the mouse over the cards of all lists, for as long as the document lives. */
export function previewOnRest(storyboardUrl: (session: SessionReference) => string): void {
  let card: Element | null = null
  let left = new AbortController()
  const follow = ({ type, target, pointerType }: PointerEvent): void => {
    const over = type === 'pointerover' && target instanceof Element ? target.closest('li') : null
    if (over === card) return
    card = over
    left.abort()
    left = new AbortController()
    const image = over?.querySelector('img')
    const path = over?.querySelector('a')?.pathname ?? ''
    const session = parseSessionPath(path)
    if (!image || !session || !path.endsWith(playerPagePath(session))) return
    if (pointerType !== 'mouse') return
    if (isDataSaverOn() || matchMedia('(prefers-reduced-motion: reduce)').matches) return
    const { signal } = left
    const timer = setTimeout(() => {
      void import('./controls/moments/storyboard/flick-storyboard.ts')
        .then(async (module) => module.flickStoryboard(image, storyboardUrl(session), signal))
        // The image stays.
        .catch(() => undefined)
    }, REST_MS)
    signal.addEventListener('abort', () => clearTimeout(timer))
  }
  document.addEventListener('pointerover', follow)
  document.documentElement.addEventListener('pointerleave', follow)
}
