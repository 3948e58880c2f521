// Reproducible pseudo-random numbers: the demo library is the same everywhere.

/** Numbers from 0 (inclusive) to 1 (exclusive) for a seed (xorshift32). */
export function createRandom(seed: number): () => number {
  let state = (seed * 2654435761 + 1) | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
