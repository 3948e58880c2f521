// How components tell what visitors do: one hook for each event.
import { createContext, use, useEffect, useRef } from 'react'
import type { MouseEvent } from 'react'
import { useLocation } from 'react-router'
import type { SessionReference } from '../../shared/paths.ts'
import type { LoadState } from '../api/resource.ts'
import type { Analytics } from './analytics.ts'
import type { ListedItem, VisitorEvent } from './visitor-event.ts'

/** Without a provider nothing is told to anybody. */
export const AnalyticsContext = createContext<Analytics>({ track: () => undefined })

/** Tells of the page once for each visit. To be called after the title is set. */
export function usePageView(): void {
  const { track } = use(AnalyticsContext)
  const { key, pathname } = useLocation()
  const toldKey = useRef<string>(undefined)
  useEffect(() => {
    if (toldKey.current === key) return
    toldKey.current = key
    track({ name: 'page_view', path: pathname, title: document.title })
  }, [track, key, pathname])
}

interface ListView<T> {
  list: 'streamers' | 'sessions'
  state: LoadState<T[]>
  itemOf(this: void, entry: T): ListedItem
}

/** Tells of a list when it is there, all of it, once in the life of the component. */
export function useListView<T>({ list, state, itemOf }: ListView<T>): void {
  const { track } = use(AnalyticsContext)
  const wasTold = useRef(false)
  useEffect(() => {
    if (wasTold.current || state.status !== 'loaded' || state.value.length === 0) return
    wasTold.current = true
    track({ name: 'view_item_list', list, items: state.value.map(itemOf) })
  })
}

/** Handlers for the link that leads to an item of a list, in this tab or a new one. */
export function useSelectItem(
  list: Extract<VisitorEvent, { name: 'select_item' }>['list'],
  item: ListedItem,
) {
  const { track } = use(AnalyticsContext)
  const select = () => track({ name: 'select_item', list, item })
  return {
    onClick: select,
    onAuxClick: ({ button }: MouseEvent) => {
      if (button === MIDDLE_BUTTON) select()
    },
  }
}

const MIDDLE_BUTTON = 1

/** The handler for `playing` of the main video; tells of the first time in each visit of the page. */
export function useBeginVideo(session: SessionReference): () => void {
  const { track } = use(AnalyticsContext)
  const { key } = useLocation()
  const toldKey = useRef<string>(undefined)
  return () => {
    if (toldKey.current === key) return
    toldKey.current = key
    track({ name: 'begin_video', session })
  }
}
