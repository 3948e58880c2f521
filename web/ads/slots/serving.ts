// Asks the ad script to fill the placeholders on the page, at the specified times. Asking where all are filled costs nothing.
import { reportAdError } from '../report-ad-error.ts'

const AFTER_LIST_MS = 100
/** Catches what was mounted after the route had changed. */
const AGAIN_AFTER_ROUTE_MS = 500

declare global {
  interface Window {
    /** An array of commands until the script has come, then its own object. */
    AdProvider?: { push(command: { serve: object }): unknown }
  }
}

/** Each function but `afterBlock` answers its undo. */
export interface Serving {
  /** 100 ms after a list was loaded. */
  afterList(): () => void
  /** The same for a block that came without a list, unless a list's turn is near. */
  afterBlock(): void
  /** At once, and after 500 ms. */
  afterRoute(): () => void
}

export function createServing(): Serving {
  let nextTurn: ReturnType<typeof setTimeout> | undefined

  function serveSoon(): void {
    clearTimeout(nextTurn)
    nextTurn = setTimeout(() => {
      nextTurn = undefined
      serve()
    }, AFTER_LIST_MS)
  }

  return {
    afterList() {
      serveSoon()
      const turn = nextTurn
      return () => {
        if (turn === nextTurn) nextTurn = undefined
        clearTimeout(turn)
      }
    },
    afterBlock() {
      if (nextTurn === undefined) serveSoon()
    },
    afterRoute() {
      serve()
      const timer = setTimeout(serve, AGAIN_AFTER_ROUTE_MS)
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
