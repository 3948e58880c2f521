// Text of strangers on a terminal.

/** The text on one line, its control characters spelled out, whatever a file name holds. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) =>
    JSON.stringify(character).slice(1, -1),
  )
}
