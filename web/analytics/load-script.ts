// Adds a third-party script to the page.

/** Resolves when the script has run; rejects if it is blocked or cannot be loaded. */
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
