// A button that opens a menu of choices, of which one is selected.
import { useEffect, useId, useRef, useState } from 'react'
import type { ComponentProps, KeyboardEvent } from 'react'
import styles from './controls.module.css'
import { Icon } from './icon.tsx'

export interface MenuItem {
  label: string
  /** A description after the label. */
  note?: string
  isSelected: boolean
}

interface MenuProps {
  label: string
  icon: ComponentProps<typeof Icon>['name']
  /** Short text on the button; not a part of its name. */
  value?: string
  /** Something other than the usual is selected. */
  isActive?: boolean
  items: readonly MenuItem[]
  /** `at` is the index of the item. */
  onSelect(this: void, at: number): void
}

export function Menu({ label, icon, value, isActive, items, onSelect }: MenuProps) {
  const id = useId()
  const [isOpen, setIsOpen] = useState(false)
  const rootRef = useRef<HTMLDivElement>(null)
  const buttonRef = useRef<HTMLButtonElement>(null)
  const menuRef = useRef<HTMLDivElement>(null)

  useEffect(() => {
    if (!isOpen) return undefined
    if (menuRef.current) keepInWindow(menuRef.current)
    const elements = itemsOf(menuRef.current)
    const selected = elements.find((item) => item.ariaChecked === 'true') ?? elements[0]
    selected?.focus()
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !rootRef.current?.contains(target)) setIsOpen(false)
    }
    document.addEventListener('pointerdown', closeOutside)
    return () => document.removeEventListener('pointerdown', closeOutside)
  }, [isOpen])

  function close(): void {
    setIsOpen(false)
    buttonRef.current?.focus()
  }

  function moveFocus(event: KeyboardEvent): void {
    if (event.key === 'Tab') return setIsOpen(false)
    const elements = itemsOf(menuRef.current)
    const at = elements.findIndex((item) => item === document.activeElement)
    const targets: Partial<Record<string, number>> = {
      ArrowDown: (at + 1) % elements.length,
      ArrowUp: (at - 1 + elements.length) % elements.length,
      Home: 0,
      End: elements.length - 1,
    }
    const target = targets[event.key]
    if (target === undefined && event.key !== 'Escape') return
    event.preventDefault()
    if (target === undefined) close()
    else elements[target]?.focus()
  }

  return (
    <div ref={rootRef} className={styles.menuRoot}>
      <button
        ref={buttonRef}
        type="button"
        className={`${styles.control} ${styles.named}`}
        aria-label={label}
        data-value={value}
        data-active={isActive ? '' : undefined}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name={icon} />
      </button>
      {isOpen && (
        <div
          ref={menuRef}
          className={styles.menu}
          role="menu"
          aria-label={label}
          tabIndex={-1}
          onKeyDown={moveFocus}
        >
          {items.map((item, at) => (
            <button
              // A label may be repeated.
              key={at}
              type="button"
              role="menuitemradio"
              aria-checked={item.isSelected}
              aria-describedby={item.note && `${id}-${at}`}
              tabIndex={-1}
              onClick={() => {
                onSelect(at)
                close()
              }}
            >
              <bdi>{item.label}</bdi>
              {item.note !== undefined && (
                <span id={`${id}-${at}`} className={styles.note} aria-hidden="true">
                  {item.note}
                </span>
              )}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

const MARGIN_PX = 8

/** Moves a menu that is centred above its button. */
function keepInWindow(menu: HTMLElement): void {
  const { left, right } = menu.getBoundingClientRect()
  const { clientWidth } = document.documentElement
  const beyondEnd = Math.max(0, right + MARGIN_PX - clientWidth)
  const beyondStart = Math.max(0, MARGIN_PX - left)
  menu.style.translate = `calc(-50% + ${beyondStart - beyondEnd}px)`
}

function itemsOf(menu: HTMLElement | null): HTMLElement[] {
  return Array.from(menu?.querySelectorAll<HTMLElement>('[role="menuitemradio"]') ?? [])
}
