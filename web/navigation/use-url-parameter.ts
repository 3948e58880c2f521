// State of a page in the query of its URL, so that Back, a reload and a shared link restore it.
import { useState } from 'react'
import { useLocation } from 'react-router'

/**
 * The value of the parameter `name`, '' if it is missing, and the function that changes it. The
 * history entry is replaced. The router is not involved: for it, this would be another page.
 */
export function useUrlParameter(name: string): [string, (value: string) => void] {
  const { search } = useLocation()
  const [value, setValue] = useState(() => new URLSearchParams(search).get(name) ?? '')

  function change(next: string): void {
    setValue(next)
    replaceParameter(name, next.trim())
  }

  return [value, change]
}

function replaceParameter(name: string, value: string): void {
  const url = new URL(window.location.href)
  if (value === '') url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  try {
    window.history.replaceState(window.history.state, '', url)
  } catch {
    // Safari allows 100 changes in 10 s. The next one corrects the URL.
  }
}
