// Chooses the moment of a link to the session, and copies or shares the link.
import { useEffect, useRef, useState } from 'react'
import { formatMoment } from '../../../ui/format-moment.ts'
import buttonStyles from '../../../ui/button.module.css'
import { Dialog } from '../dialog.tsx'
import { formatStep } from '../format-step.ts'
import { translate } from '../../../language/translate.ts'
import styles from './share-dialog.module.css'
import { parseTypedMoment } from './typed-moment.ts'
import { momentUrl, useCopiedLink } from './use-copied-link.ts'

interface ShareDialogProps {
  /** The moment at first. */
  seconds: number
  durationSeconds: number
  onClose(this: void): void
}

export function ShareDialog({ seconds, durationSeconds, onClose }: ShareDialogProps) {
  const [text, setText] = useState(() => formatMoment(seconds))
  const [isCopied, copy] = useCopiedLink()
  const fieldRef = useRef<HTMLInputElement>(null)
  // After the dialog is open: another moment can be typed at once.
  useEffect(() => {
    fieldRef.current?.focus()
    fieldRef.current?.select()
  }, [])
  const typed = parseTypedMoment(text)
  const chosen = typed !== undefined && typed <= durationSeconds ? Math.floor(typed) : undefined

  function move(change: number): void {
    const moved = Math.min(Math.max((chosen ?? seconds) + change, 0), durationSeconds)
    setText(formatMoment(moved))
  }

  function share(): void {
    const url = momentUrl(chosen ?? seconds)
    // The visitor may close the sheet.
    void navigator.share({ title: document.title, url }).catch(() => undefined)
  }

  return (
    <Dialog title={translate('Share this moment')} onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (chosen !== undefined) copy(chosen)
        }}
      >
        <label className={styles.field}>
          {translate('Start at')}
          <input
            ref={fieldRef}
            value={text}
            aria-invalid={chosen === undefined}
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <button type="button" className={styles.button} onClick={() => move(-1)}>
          {formatStep(-1)}
        </button>
        <button type="button" className={styles.button} onClick={() => move(1)}>
          {formatStep(1)}
        </button>
        <div className={styles.actions}>
          {'share' in navigator && (
            <button
              type="button"
              className={styles.button}
              disabled={chosen === undefined}
              onClick={share}
            >
              {translate('Share…')}
            </button>
          )}
          <button
            type="submit"
            className={`${buttonStyles.primary} ${styles.copy}`}
            disabled={chosen === undefined}
          >
            {translate('Copy')}
          </button>
          <output className={styles.copied}>{isCopied ? translate('Link copied') : ''}</output>
        </div>
      </form>
    </Dialog>
  )
}
