// Untrusted text in one line.

/** The text on one line, with control characters escaped. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) =>
    JSON.stringify(character).slice(1, -1),
  )
}

/** The lines of a message in one. */
export function inOneLine(message: string): string {
  const lines = message.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}
