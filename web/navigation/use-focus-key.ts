// A key that moves the focus to an input of the page.
import { useEffect } from 'react'
import type { RefObject } from 'react'
import { readStartPreferences } from './start-preferences.ts'

/** Elements that use keys themselves. */
const EDITABLE = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])'

/**
 * Pressing `key` anywhere else on the page focuses the input and selects its content. Returns the
 * key; undefined if the visitor has turned shortcuts off.
 */
export function useFocusKey(
  inputRef: RefObject<HTMLInputElement | null>,
  key: string,
): string | undefined {
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== key || event.defaultPrevented) return
      if (event.ctrlKey || event.altKey || event.metaKey) return
      if (event.target instanceof Element && event.target.closest(EDITABLE)) return
      // On the player page, the visitor may turn them off meanwhile.
      if (!readStartPreferences().hasShortcuts) return
      // Otherwise the key would be typed into the input, or open the search of Firefox.
      event.preventDefault()
      inputRef.current?.focus()
      inputRef.current?.select()
    }
    window.addEventListener('keydown', focus)
    return () => window.removeEventListener('keydown', focus)
  }, [inputRef, key])
  return readStartPreferences().hasShortcuts ? key : undefined
}
