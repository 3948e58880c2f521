// The search of the streamers page.
import type { StreamerItem } from '../../shared/contract.ts'

/**
 * Streamers whose name contains `query`, case-insensitive, without the white space around it. Names
 * are NFC; the query may be in another form.
 */
export function filterStreamers(streamers: StreamerItem[], query: string): StreamerItem[] {
  const wanted = query.trim().normalize('NFC').toLowerCase()
  if (wanted === '') return streamers
  return streamers.filter(({ name }) => name.toLowerCase().includes(wanted))
}
