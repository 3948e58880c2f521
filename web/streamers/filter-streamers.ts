// The search of the streamers page.
import type { StreamerItem } from '../../shared/contract.ts'

/** Streamers whose name contains `query`, whatever the case. Names come in NFC; a query may be typed in another form. */
export function filterStreamers(streamers: StreamerItem[], query: string): StreamerItem[] {
  if (query === '') return streamers
  const wanted = query.normalize('NFC').toLowerCase()
  return streamers.filter(({ name }) => name.toLowerCase().includes(wanted))
}
