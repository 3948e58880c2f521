// Reports when elements far down a long list come near the viewport.

/** One viewport height above and below. */
const MARGIN = '100% 0px'

export interface Nearby {
  /**
   * Calls back once, when `element` is in the viewport or less than one viewport away. Returns the
   * undo.
   */
  once(element: Element, callback: () => void): () => void
}

/** One observer for all elements. */
export function watchNearby(): Nearby {
  const callbacks = new Map<Element, () => void>()
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        const callback = isIntersecting ? callbacks.get(target) : undefined
        if (!callback) continue
        remove(target)
        callback()
      }
    },
    { rootMargin: MARGIN },
  )

  function remove(element: Element): void {
    callbacks.delete(element)
    observer.unobserve(element)
  }

  return {
    once(element, callback) {
      callbacks.set(element, callback)
      observer.observe(element)
      return () => remove(element)
    },
  }
}
