// The loading state of a list.
import styles from './loading.module.css'

export function Loading() {
  return <output className={styles.loading}>Loading…</output>
}
