// The list of the keyboard shortcuts, as a modal dialog.
import { Dialog } from '../dialog.tsx'
import { translate, translateKnown } from '../../../language/translate.ts'
import styles from './shortcuts-dialog.module.css'
import { SHORTCUT_HELP } from './shortcuts.ts'
import type { Shortcuts } from './use-shortcuts.ts'

interface ShortcutsDialogProps {
  shortcuts: Shortcuts
  onClose(this: void): void
}

/** Open as long as it is rendered. */
export function ShortcutsDialog({ shortcuts, onClose }: ShortcutsDialogProps) {
  return (
    <Dialog title={translate('Keyboard shortcuts')} onClose={onClose}>
      {/* WCAG 2.1.4: speech input and tremor press single keys by accident. */}
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={shortcuts.isOn}
          onChange={(event) => shortcuts.choose(event.target.checked)}
        />
        {translate('Single-key shortcuts')}
      </label>
      <dl className={styles.list}>
        {SHORTCUT_HELP.map(([keys, action]) => (
          <div key={action} className={styles.row}>
            <dt>{translate(action)}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{translateKnown(key)}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
