// The provider's script on the page.
import { reportAdError } from '../report-ad-error.ts'

/** Adds the script unless a script of this address is already there, whoever added it: two copies would both fill. */
export function injectAdScript(url: string): void {
  const { href } = new URL(url, document.baseURI)
  if (Array.from(document.scripts).some(({ src }) => src === href)) return
  const script = document.createElement('script')
  script.async = true
  script.src = url
  script.addEventListener('error', () => reportAdError('the script could not be loaded', url))
  document.head.append(script)
}
