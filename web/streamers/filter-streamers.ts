// The search of the streamers page.
import type { StreamerItem } from '../../shared/contract.ts'

/**
 * Streamers whose name contains `query`, case-insensitive. Names are NFC; the query may be in
 * another form.
 */
export function filterStreamers(streamers: StreamerItem[], query: string): StreamerItem[] {
  if (query === '') return streamers
  const wanted = query.normalize('NFC').toLowerCase()
  return streamers.filter(({ name }) => name.toLowerCase().includes(wanted))
}
