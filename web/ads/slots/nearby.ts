// Tells when elements far down a long list come near the screen.

/** A screen above and below. */
const MARGIN = '100% 0px'

export interface Nearby {
  /** Calls back once, when `element` is on the screen or less than a screen away. Answers the undo. */
  once(element: Element, callback: () => void): () => void
}

/** One observer for all. */
export function watchNearby(): Nearby {
  const callbacks = new Map<Element, () => void>()
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        const callback = isIntersecting ? callbacks.get(target) : undefined
        if (!callback) continue
        forget(target)
        callback()
      }
    },
    { rootMargin: MARGIN },
  )

  function forget(element: Element): void {
    callbacks.delete(element)
    observer.unobserve(element)
  }

  return {
    once(element, callback) {
      callbacks.set(element, callback)
      observer.observe(element)
      return () => forget(element)
    },
  }
}
