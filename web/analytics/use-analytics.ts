// One hook for each event that components track.
import { createContext, use, useEffect, useRef } from 'react'
import type { MouseEvent } from 'react'
import { useLocation } from 'react-router'
import { sessionKey } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { LoadState } from '../api/resource.ts'
import type { Analytics } from './analytics.ts'
import type { ListedItem, VisitorEvent } from './visitor-event.ts'

/** Without a provider nothing is tracked. */
export const AnalyticsContext = createContext<Analytics>({ track: () => undefined })

/** Tracks a page view once per visit. Call it after the title is set. */
export function usePageView(): void {
  const { track } = use(AnalyticsContext)
  const { key, pathname } = useLocation()
  const sentKey = useRef<string>(undefined)
  useEffect(() => {
    if (sentKey.current === key) return
    sentKey.current = key
    track({ name: 'page_view', path: pathname, title: document.title })
  }, [track, key, pathname])
}

interface ListView<T> {
  list: 'streamers' | 'sessions'
  state: LoadState<T[]>
  itemOf(this: void, entry: T): ListedItem
}

/** Tracks a whole list when it is loaded, once per mounted component. */
export function useListView<T>({ list, state, itemOf }: ListView<T>): void {
  const { track } = use(AnalyticsContext)
  const wasSent = useRef(false)
  useEffect(() => {
    if (wasSent.current || state.status !== 'loaded' || state.value.length === 0) return
    wasSent.current = true
    track({ name: 'view_item_list', list, items: state.value.map(itemOf) })
  })
}

type ListName = Extract<VisitorEvent, { name: 'select_item' }>['list']

/** Returns the function that tracks the selection of an item without a click on its link. */
export function useTrackSelection(list: ListName): (item: ListedItem) => void {
  const { track } = use(AnalyticsContext)
  return (item) => track({ name: 'select_item', list, item })
}

/** Handlers for the link of a list item, opened in this tab or a new one. */
export function useSelectItem(list: ListName, item: ListedItem) {
  const trackSelection = useTrackSelection(list)
  const select = () => trackSelection(item)
  return {
    onClick: select,
    onAuxClick: ({ button }: MouseEvent) => {
      if (button === MIDDLE_BUTTON) select()
    },
  }
}

const MIDDLE_BUTTON = 1

/**
 * Returns the handler for `playing` of the main video; it tracks only the first one until another
 * session is opened: its page has another address with others beside it.
 */
export function useBeginVideo(session: SessionReference): () => void {
  const { track } = use(AnalyticsContext)
  const key = sessionKey(session)
  const sentKey = useRef<string>(undefined)
  return () => {
    if (sentKey.current === key) return
    sentKey.current = key
    track({ name: 'begin_video', session })
  }
}
