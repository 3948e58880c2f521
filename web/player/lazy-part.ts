// Parts of the page that are chunks of their own, so that the first frame comes first.
import { createElement, useEffect, useState } from 'react'
import type { ComponentType } from 'react'

/**
 * Loaded on the first render; renders nothing before, and if it cannot be loaded. Without Suspense,
 * which delays what it reveals by up to 300 ms.
 */
export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function LazyPart(props: P) {
    const [part, setPart] = useState(() => loaded)
    useEffect(() => {
      if (loaded) return undefined
      let isMounted = true
      load().then(
        (component) => {
          loaded = component
          if (isMounted) setPart(() => component)
        },
        // The video plays without it.
        () => undefined,
      )
      return () => {
        isMounted = false
      }
    }, [])
    return part && createElement(part, props)
  }
}
