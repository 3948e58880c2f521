// Numbers of things in messages.

/** `1 recording`, `2 recordings`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
