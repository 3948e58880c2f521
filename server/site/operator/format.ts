// Numbers, times and names as the operator's page shows them. Pure.
import { nameOf } from '../../library/catalog/store/hidden.ts'
import type { HiddenRow } from '../../library/catalog/store/hidden.ts'

/** `1,234`. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en')
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** `12.3 GiB`. */
export function formatBytes(bytes: number): string {
  const at = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1)
  const value = bytes / 1024 ** at
  return `${value.toFixed(at === 0 || value >= 100 ? 0 : 1)} ${UNITS[at]}`
}

/** `192.0.2.1`, or `2001:db8:0:1::/64`. */
export function formatNetwork(network: string): string {
  return network.includes(':') ? `${network}::/64` : network
}

/** The two largest units: `3 d 4 h`, `5 min 6 s`. */
export function formatAge(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first < 0) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

/** ISO 8601 without a fraction, in UTC. */
export function formatTime(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The form in which operators enter names. */
export function formatName(row: HiddenRow): string {
  const name = nameOf(row)
  if (name.kind === 'chat-user')
    return `${name.user} in chats of ${name.streamer ?? 'all streamers'}`
  const { streamer, date, sessionId } = row
  return sessionId === '' ? streamer : `${streamer}/${date}/${sessionId}`
}
