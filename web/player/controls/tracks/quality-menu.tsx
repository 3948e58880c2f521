// The menu Quality, where a session has a choice.
import type { SessionResponse } from '../../../../shared/contract.ts'
import { Menu } from '../menu.tsx'
import { formatNumber, translate, translateKnown } from '../../../language/translate.ts'

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
      label={translate('Quality')}
      icon="quality"
      isActive={at > 0}
      items={qualities.map((each, i) => ({
        label: translateKnown(each.label),
        note: describe(each),
        isSelected: i === at,
      }))}
      onSelect={(i) => i !== at && onSelect(i === 0 ? '' : (qualities[i]?.id ?? ''))}
    />
  )
}

/** `730 kbit/s, a picture every 2 s` */
function describe({ bandwidth, keyFrameSeconds }: Quality): string {
  const [bits, unit] = bandwidth < 1e6 ? [bandwidth / 1e3, 'kbit/s'] : [bandwidth / 1e6, 'Mbit/s']
  const rate = formatNumber(Number(bits.toPrecision(2)))
  // No break before the unit.
  const speed = `${rate}\u00A0${unit}`
  if (!keyFrameSeconds) return speed
  return `${speed}, ${translate('a picture every {seconds}\u00A0s', { seconds: keyFrameSeconds })}`
}
