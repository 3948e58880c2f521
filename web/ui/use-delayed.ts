// A state that is shown only if it lasts.
import { useEffect, useState } from 'react'

/** Whether `isOn` has been true for `delayMs` until now. */
export function useDelayed(isOn: boolean, delayMs: number): boolean {
  const [hasLasted, setHasLasted] = useState(false)
  useEffect(() => {
    if (!isOn) return undefined
    const timer = setTimeout(() => setHasLasted(true), delayMs)
    return () => {
      clearTimeout(timer)
      setHasLasted(false)
    }
  }, [isOn, delayMs])
  return isOn && hasLasted
}
