// Makes control characters of untrusted text visible.

/** The text on one line, with control characters escaped. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) =>
    JSON.stringify(character).slice(1, -1),
  )
}
