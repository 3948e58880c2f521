// The menu Quality, where a session has a choice.
import type { SessionResponse } from '../../../../shared/contract.ts'
import { Menu } from '../menu.tsx'

export type Quality = SessionResponse['qualities'][number]

interface QualityMenuProps {
  qualities: readonly Quality[]
  /** Id of the one that is played; empty for the original. */
  quality: string
  onSelect(this: void, id: string): void
}

export function QualityMenu({ qualities, quality, onSelect }: QualityMenuProps) {
  if (qualities.length < 2) return null
  const known = qualities.findIndex(({ id }) => id === quality)
  const at = Math.max(0, known)
  return (
    <Menu
      label="Quality"
      icon="quality"
      isActive={at > 0}
      items={qualities.map((each, i) => ({
        label: each.label,
        note: describe(each),
        isSelected: i === at,
      }))}
      onSelect={(i) => i !== at && onSelect(i === 0 ? '' : (qualities[i]?.id ?? ''))}
    />
  )
}

/** `0.4 Mbit/s, a picture every 2 s` */
function describe({ bandwidth, keyFrameSeconds }: Quality): string {
  const megabits = (bandwidth / 1e6).toLocaleString('en', { maximumSignificantDigits: 2 })
  const pictures = keyFrameSeconds === undefined ? '' : `, a picture every ${keyFrameSeconds} s`
  return `${megabits} Mbit/s${pictures}`
}
