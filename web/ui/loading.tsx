// What is said while a list loads.
import styles from './loading.module.css'

export function Loading() {
  return <output className={styles.loading}>Loading…</output>
}
