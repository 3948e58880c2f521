// Work on many things, a few at once.

/** Under way at once. */
const AT_ONCE = 4

/** As Promise.all over `work`, with a few under way at once. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const turns = items.entries()
  const worker = async (): Promise<void> => {
    for (const [i, item] of turns) results[i] = await work(item, i)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}
