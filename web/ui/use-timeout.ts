// A limit of how long a component waits.
import { useEffect, useState } from 'react'

/** Whether `isRunning` has been true for `timeoutMs` without interruption, at any time. */
export function useTimeout(isRunning: boolean, timeoutMs: number): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setTimeout(() => setOver(true), timeoutMs)
    return () => clearTimeout(timer)
  }, [isRunning, timeoutMs])
  return isOver
}
