// Adds the ad provider's script to the page.
import { reportAdError } from '../report-ad-error.ts'

/**
 * Adds the script unless the page already has one with this URL: two copies would both fill the
 * slots.
 */
export function injectAdScript(url: string): void {
  const { href } = new URL(url, document.baseURI)
  if (Array.from(document.scripts).some(({ src }) => src === href)) return
  const script = document.createElement('script')
  script.async = true
  script.src = url
  script.addEventListener('error', () => reportAdError('the script could not be loaded', url))
  document.head.append(script)
}
