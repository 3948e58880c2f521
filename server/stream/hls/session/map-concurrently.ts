// Maps items with a limit of concurrent calls.

const MAX_CONCURRENT = 4

/** As Promise.all, with at most four calls of `work` in flight. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const entries = items.entries()
  const worker = async (): Promise<void> => {
    for (const [i, item] of entries) results[i] = await work(item, i)
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker))
  return results
}
