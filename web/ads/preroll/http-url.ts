// URLs from VAST documents are untrusted: only http and https are used.

/** The absolute URL, resolved against `base`; undefined if it is invalid or has another scheme. */
export function resolveHttpUrl(text: string, base: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed === '' || !URL.canParse(trimmed, base)) return undefined
  const { protocol, href } = new URL(trimmed, base)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}
