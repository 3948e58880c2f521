// Puts a stranger's script into the page.

/** Resolves when the script has run; rejects where it is blocked or not to be had. */
export function loadScript(src: string, attributes: Record<string, string> = {}): Promise<void> {
  const script = document.createElement('script')
  for (const [name, value] of Object.entries(attributes)) script.setAttribute(name, value)
  script.async = true
  script.src = src
  document.head.append(script)
  return new Promise((resolve, reject) => {
    script.addEventListener('load', () => resolve())
    script.addEventListener('error', () => reject(new Error(`${src} did not load`)))
  })
}
