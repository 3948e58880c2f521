// The button Speed and its menu.
import { usePlayback } from '../playback/use-playback.ts'
import type { Playback } from '../playback/playback.ts'
import { formatNumber, translate } from '../../language/translate.ts'
import { RATES } from './commands.ts'
import { Menu } from './menu.tsx'

interface SpeedMenuProps {
  playback: Playback
  onSelect(this: void, rate: number): void
}

export function SpeedMenu({ playback, onSelect }: SpeedMenuProps) {
  const rate = usePlayback(playback, (state) => state.rate)
  return (
    <Menu
      label={translate('Speed')}
      icon="speed"
      value={formatRate(rate)}
      items={RATES.map((other) => ({ label: formatRate(other), isSelected: other === rate }))}
      onSelect={(at) => onSelect(RATES[at] ?? 1)}
    />
  )
}

/** `1.5×` */
export function formatRate(rate: number): string {
  return `${formatNumber(rate)}×`
}
