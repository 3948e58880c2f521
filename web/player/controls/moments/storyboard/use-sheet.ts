// Requests the sheet of a frame, and shows the frame once it is loaded.
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { StoryboardFrame } from './parse-storyboard.ts'
import type { SheetLoader } from './sheet-loader.ts'

/** The frame once its sheet is loaded; until then the one before. */
export function useSheet(
  loader: SheetLoader,
  frame: StoryboardFrame | undefined,
  order: 'now' | 'later',
): StoryboardFrame | undefined {
  const url = frame?.sheetUrl
  useEffect(() => {
    if (url !== undefined) loader.request(url, order)
  }, [loader, url, order])
  const isLoaded = useSyncExternalStore(loader.subscribe, () => loader.isLoaded(url ?? ''))
  const [shown, setShown] = useState<StoryboardFrame>()
  const next = isLoaded || !frame ? frame : shown
  if (next !== shown) setShown(next)
  return next
}
