// Theatre: the video as wide as the window.
import { useEffect, useState } from 'react'
import type { RefObject } from 'react'

/** Whether it is on, and the function that toggles it. It ends with the page. */
export function useTheatre(
  stage: RefObject<Element | null>,
): [isTheatre: boolean, toggle: () => void] {
  const [isTheatre, setIsTheatre] = useState(false)
  useEffect(() => {
    if (!isTheatre) return undefined
    const { dataset } = document.documentElement
    dataset['theatre'] = ''
    stage.current?.scrollIntoView({ block: 'nearest' })
    return () => void delete dataset['theatre']
  }, [isTheatre, stage])
  return [isTheatre, () => setIsTheatre(!isTheatre)]
}
