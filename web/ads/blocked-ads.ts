// Whether the ads of this visit are blocked: their script or the page's own code for them could not
// be loaded.

const STORAGE_KEY = 'aftercast.ads-blocked'

export interface BlockedAds {
  read(this: void): boolean
  /** Calls back when the ads turn out to be blocked. Returns the undo. */
  subscribe(this: void, onChange: () => void): () => void
  /** Applies to the rest of the visit, also after a reload. */
  setBlocked(this: void): void
}

/** `openStorage` returns the storage of the visit; it may throw. */
export function createBlockedAds(openStorage: () => Storage): BlockedAds {
  const listeners = new Set<() => void>()
  let isBlocked = readStored(openStorage)
  return {
    read: () => isBlocked,
    subscribe(onChange) {
      listeners.add(onChange)
      return () => void listeners.delete(onChange)
    },
    setBlocked() {
      if (isBlocked) return
      isBlocked = true
      store(openStorage)
      for (const listener of listeners) listener()
    },
  }
}

function readStored(openStorage: () => Storage): boolean {
  try {
    return openStorage().getItem(STORAGE_KEY) !== null
  } catch {
    return false // Storage is off: the next document finds out by itself.
  }
}

function store(openStorage: () => Storage): void {
  try {
    openStorage().setItem(STORAGE_KEY, 'true')
  } catch {
    // Storage is full or off: the next document finds out by itself.
  }
}
