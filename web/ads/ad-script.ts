// Adds the ad provider's script to the page.

/**
 * Adds the script unless the page already has one with this URL: two copies would both fill the
 * slots. `onFailure` is called if the script that was added cannot be loaded.
 */
export function injectAdScript(url: string, onFailure: () => void): void {
  const { href } = new URL(url, document.baseURI)
  if (Array.from(document.scripts).some(({ src }) => src === href)) return
  const script = document.createElement('script')
  script.async = true
  script.src = url
  script.addEventListener('error', onFailure)
  document.head.append(script)
}
