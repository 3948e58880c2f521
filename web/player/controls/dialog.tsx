// A modal dialog with a title.
import { useId, useLayoutEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { translate } from '../../language/translate.ts'
import styles from './dialog.module.css'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  onClose(this: void): void
  children: ReactNode
}

/** Open as long as it is rendered. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialogRef = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const dialog = dialogRef.current
    dialog?.showModal()
    // Before it is removed, it returns the focus to where it was.
    return () => dialog?.close()
  }, [])
  return (
    <dialog ref={dialogRef} className={styles.dialog} aria-labelledby={id} onClose={onClose}>
      <div className={styles.header}>
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          className={styles.close}
          aria-label={translate('Close')}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  )
}
