// Goes back in history, or to the parent page after a direct link.
import { useNavigate } from 'react-router'
import { translate } from '../language/translate.ts'
import styles from './button.module.css'

interface BackButtonProps {
  /** Path of the page above this one. */
  parent: string
}

export function BackButton({ parent }: BackButtonProps) {
  const navigate = useNavigate()
  const goBack = () => void (hasHistory(window.history.state) ? navigate(-1) : navigate(parent))
  return (
    <button type="button" className={styles.quiet} onClick={goBack}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M10 3 5 8l5 5" />
      </svg>
      {translate('Back')}
    </button>
  )
}

/** The router numbers its history entries from 0. */
function hasHistory(state: unknown): boolean {
  if (typeof state !== 'object' || state === null || !('idx' in state)) return false
  return typeof state.idx === 'number' && state.idx > 0
}
