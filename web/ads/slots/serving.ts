// Calls the ad script's `serve` at the specified times. A call with no empty placeholder costs
// nothing.
import { reportAdError } from '../report-ad-error.ts'

const AFTER_LIST_MS = 100
/** Covers blocks that mount after the route change. */
const SECOND_SERVE_AFTER_ROUTE_MS = 500

declare global {
  interface Window {
    /** A command queue until the script has loaded, then the script's own object. */
    AdProvider?: { push(command: { serve: object }): unknown }
  }
}

/** `afterList` and `afterRoute` return their undo. */
export interface Serving {
  /** Serves 100 ms after a list has loaded. */
  afterList(): () => void
  /** The same for a block that mounts without a list load, unless a serve is already pending. */
  afterBlock(): void
  /** Serves now and again after 500 ms. */
  afterRoute(): () => void
}

export function createServing(): Serving {
  let pendingServe: ReturnType<typeof setTimeout> | undefined

  function serveSoon(): void {
    clearTimeout(pendingServe)
    pendingServe = setTimeout(() => {
      pendingServe = undefined
      serve()
    }, AFTER_LIST_MS)
  }

  return {
    afterList() {
      serveSoon()
      const own = pendingServe
      return () => {
        if (own === pendingServe) pendingServe = undefined
        clearTimeout(own)
      }
    },
    afterBlock() {
      if (pendingServe === undefined) serveSoon()
    },
    afterRoute() {
      serve()
      const timer = setTimeout(serve, SECOND_SERVE_AFTER_ROUTE_MS)
      return () => clearTimeout(timer)
    },
  }
}

function serve(): void {
  try {
    window.AdProvider ??= []
    window.AdProvider.push({ serve: {} })
  } catch (error) {
    reportAdError('the slots could not be served', error)
  }
}
