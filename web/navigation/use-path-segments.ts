// The segments of the page's path, decoded exactly once.
import { useLocation } from 'react-router'

/**
 * `/s/a%2Fb` -> `['s', 'a/b']`. The router's own parameters are not used because they turn a
 * literal `%2F` in a name (`%252F` in the path) into a slash.
 */
export function usePathSegments(): string[] {
  return parsePathSegments(useLocation().pathname)
}

export function parsePathSegments(pathname: string): string[] {
  return pathname.split('/').filter(Boolean).map(decodeSegment)
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Malformed percent encoding: the API responds 404 to the undecoded name.
    return segment
  }
}
