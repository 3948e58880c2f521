// Copies a link to a moment of the session.
import { useEffect, useState } from 'react'

const CONFIRMATION_MS = 2000

/** The address of the page at a moment, in whole seconds; with the same views. */
export function momentUrl(seconds: number): string {
  const url = new URL(location.pathname, location.href)
  const views = new URLSearchParams(location.search).get('with')
  if (views) url.searchParams.set('with', views)
  if (seconds > 0) url.searchParams.set('t', String(seconds))
  return url.href
}

/** Whether a link was copied just now, and the function that copies one. Call it in a click. */
export function useCopiedLink(): [isCopied: boolean, copy: (seconds: number) => void] {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return undefined
    const timer = setTimeout(() => setIsCopied(false), CONFIRMATION_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  return [isCopied, (seconds) => void copyText(momentUrl(seconds)).then(setIsCopied)]
}

/** Resolves to whether it was copied. Call it in a click. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // On http, browsers have no clipboard, except for the visitor's own machine.
    return copySelection(text)
  }
}

function copySelection(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}
