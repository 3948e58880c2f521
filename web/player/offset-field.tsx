// A field for seconds by which something comes later, or earlier.
import { useState } from 'react'
import { translate } from '../language/translate.ts'
import styles from './offset-field.module.css'

interface OffsetFieldProps {
  label: string
  title: string
  step: number
  /** Of its absolute value. */
  max: number
  seconds: number
  onChange(this: void, seconds: number): void
}

/** It may be empty or `-` while the visitor types. */
export function OffsetField({ label, title, step, max, seconds, onChange }: OffsetFieldProps) {
  const [typed, setTyped] = useState(String(seconds))
  return (
    <label className={styles.offset} title={title}>
      {label}
      <input
        type="number"
        step={step}
        min={-max}
        max={max}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          const changed = target.valueAsNumber
          const isWithin = Math.abs(changed) <= max
          if (isWithin || target.value === '') onChange(isWithin ? changed : 0)
        }}
      />
      <span aria-hidden="true">{translate('{seconds} s', { seconds: '' })}</span>
    </label>
  )
}
