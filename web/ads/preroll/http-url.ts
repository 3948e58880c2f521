// Addresses out of ad answers: data of strangers, of which only http and https are ever used.

/**
 * `text` as an absolute address, relative ones read against `base`; undefined where it is none or
 * of another scheme.
 */
export function resolveHttpUrl(text: string, base: string): string | undefined {
  const address = text.trim()
  if (address === '' || !URL.canParse(address, base)) return undefined
  const { protocol, href } = new URL(address, base)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}
