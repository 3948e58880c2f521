// The properties of an event as a flat map, for services without item lists.
import type { ListedItem, VisitorEvent } from './visitor-event.ts'

/** Lists become name and length: such services truncate long values. */
export function eventProperties(
  event: Exclude<VisitorEvent, { name: 'page_view' }>,
): Record<string, string | number> {
  switch (event.name) {
    case 'view_item_list':
      return { list: event.list, items: event.items.length }
    case 'select_item':
      return { list: event.list, ...propertiesOf(event.item) }
    case 'begin_video':
      return propertiesOf(event.session)
  }
}

function propertiesOf({ streamer, date, sessionId }: ListedItem): Record<string, string> {
  return date === undefined || sessionId === undefined
    ? { streamer }
    : { streamer, session: sessionId, date }
}
