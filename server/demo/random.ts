// Numbers that look random and are the same on every run: the demo library is made the same everywhere.

/** Numbers from 0 (included) to 1 (excluded), by a seed (xorshift32). */
export function createRandom(seed: number): () => number {
  let state = (seed * 2654435761 + 1) | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
