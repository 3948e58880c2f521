// Whether the visitor asks for little data.

/** Save Data API; few browsers have it. */
export function isDataSaverOn(): boolean {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } }
  return connection?.saveData === true
}
