// Listens to the shortcuts while the player page is open.
import { useEffect, useEffectEvent, useState } from 'react'
import { readPreferences, savePreferences } from '../../preferences.ts'
import { commandOf, isRepeated, usesKey } from './shortcuts.ts'
import type { Command } from './shortcuts.ts'

export interface Shortcuts {
  isOn: boolean
  /** Turns them on or off, remembered. */
  choose(this: void, isOn: boolean): void
}

/** Calls `run` for each shortcut that the focused element does not use itself. */
export function useShortcuts(video: HTMLVideoElement, run: (command: Command) => void): Shortcuts {
  const [isOn, setIsOn] = useState(() => readPreferences().hasShortcuts)
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const command = isOn && commandOf(event)
    if (!command || !isFree(event, command, video)) return
    // The page would scroll, and the browser's own controls would act once more.
    event.preventDefault()
    event.stopPropagation()
    if (!event.repeat || isRepeated(command)) run(command)
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event)
    // Before the listeners of the browser's controls, which are on the video.
    document.addEventListener('keydown', listener, { capture: true })
    return () => document.removeEventListener('keydown', listener, { capture: true })
  }, [])
  return {
    isOn,
    choose(next) {
      setIsOn(next)
      savePreferences({ hasShortcuts: next })
    },
  }
}

function isFree(
  { target, key }: KeyboardEvent,
  { name }: Command,
  video: HTMLVideoElement,
): boolean {
  if (!(target instanceof HTMLElement)) return true
  if (document.querySelector('dialog[open]')) return name === 'help'
  // The pre-roll covers the video.
  if (video.inert && !['theatre', 'help', 'next', 'previous'].includes(name)) return false
  // A button of the browser's own controls has the focus, not the video itself.
  if (target === video && key === ' ') return target.matches(':focus')
  return !usesKey(
    {
      tagName: target.localName,
      type: target instanceof HTMLInputElement ? target.type : '',
      role: target.getAttribute('role') ?? '',
      isEditable: target.isContentEditable,
    },
    key,
  )
}
