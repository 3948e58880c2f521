// The sessions beside the one of the page, in its URL, and the functions that change them.
import { useMemo } from 'react'
import { useNavigate } from 'react-router'
import { watchPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { useUrlParameter } from '../../navigation/use-url-parameter.ts'
import { formatViews, isSame, MAX_VIEWS, parseViews } from './view-list.ts'
import type { View } from './view-list.ts'

/** Returns what shows a session beside the others; undefined if it is shown, or has no room. */
export type OfferView = (session: SessionReference) => (() => void) | undefined

/** @param hasViews whether the page shows them */
export function useViews(session: SessionReference, hasViews: boolean) {
  const navigate = useNavigate()
  const [value, setValue] = useUrlParameter('with')
  const all = useMemo(() => parseViews(value, session), [value, session])
  const views = hasViews ? all : []
  const setViews = (next: readonly View[]): void => setValue(formatViews(next))
  const offerView: OfferView = (other) => {
    if (views.length === MAX_VIEWS || views.some((view) => isSame(view, other))) return undefined
    return () => {
      // The video continues: both pages are the same component.
      if (!hasViews) void navigate(watchPagePath(session))
      setViews([...views, { ...other, shiftSeconds: 0 }])
    }
  }
  return { views, setViews, offerView }
}
