// Google Analytics 4 through gtag.js, with explicit page views.
import type { AnalyticsConfig } from '../../shared/contract.ts'
import { loadScript } from './load-script.ts'
import type { ListedItem, Target, VisitorEvent } from './visitor-event.ts'

type Gtag = (...command: unknown[]) => void

declare global {
  interface Window {
    dataLayer?: unknown[]
    gtag?: Gtag
  }
}

const SCRIPT = 'https://www.googletagmanager.com/gtag/js'

/** Google's consent mode requires the consent defaults as the first command. */
export function createGa4({ measurementId, consent }: NonNullable<AnalyticsConfig['ga4']>): Target {
  const dataLayer = (window.dataLayer ??= [])
  const gtag: Gtag = function () {
    // gtag.js recognises commands by their type Arguments; it ignores arrays.
    dataLayer.push(arguments)
  }
  window.gtag ??= gtag // For the operator's own consent dialog.
  if (Object.keys(consent).length > 0) gtag('consent', 'default', consent)
  gtag('js', new Date())
  gtag('config', measurementId, { send_page_view: false })

  let isBlocked = false
  loadScript(`${SCRIPT}?id=${encodeURIComponent(measurementId)}`).catch(() => {
    isBlocked = true
  })
  return ({ event, url, referrer }) => {
    if (isBlocked) return
    const page = { page_location: url, page_referrer: referrer }
    gtag('event', event.name, parametersOf(event, page))
  }
}

interface Page {
  page_location: string
  page_referrer: string
}

function parametersOf(event: VisitorEvent, page: Page): Record<string, unknown> {
  switch (event.name) {
    case 'page_view':
      return { page_title: event.title, ...page }
    case 'view_item_list':
      return { ...listOf(event.list), items: event.items.map(itemOf) }
    case 'select_item':
      return { ...listOf(event.list), items: [itemOf(event.item)] }
    case 'begin_video': {
      const { streamer, date, sessionId } = event.session
      return { streamer, session: sessionId, date }
    }
  }
}

function listOf(list: string): Record<string, string> {
  return { item_list_id: list, item_list_name: list }
}

function itemOf({ streamer, date, sessionId }: ListedItem): Record<string, string> {
  if (date === undefined || sessionId === undefined) {
    return { item_id: streamer, item_name: streamer, item_category: 'streamer' }
  }
  return {
    item_id: `${streamer}/${date}/${sessionId}`,
    item_name: sessionId,
    item_brand: streamer,
    item_category: 'session',
    item_variant: date,
  }
}
