// Over the video for a moment: what a shortcut has done.
import { useEffect, useState } from 'react'
import { describeResult } from './describe-result.ts'
import styles from './key-feedback.module.css'
import type { Command } from './shortcuts.ts'

interface KeyResult {
  /** Empty if there is nothing to show. */
  text: string
  /** Another number for each key. */
  count: number
}

const SHOWN_MS = 800

/** The result of the last shortcut, and the function that runs one. */
export function useKeyResult(
  video: HTMLVideoElement,
  run: (command: Command) => void,
): [result: KeyResult, runKey: (command: Command) => void] {
  const [result, setResult] = useState({ text: '', count: 0 })
  const runKey = (command: Command): void => {
    run(command)
    const text = describeResult(command, video)
    setResult(({ count }) => ({ text, count: count + 1 }))
  }
  return [result, runKey]
}

export function KeyFeedback({ text, count }: KeyResult) {
  const [endedCount, setEndedCount] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setEndedCount(count), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [count])
  // Exists before the announcement, which screen readers would miss otherwise.
  return <output className={styles.feedback}>{count === endedCount ? '' : text}</output>
}
