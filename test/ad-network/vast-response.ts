// A response to a request for VAST.

/**
 * `hold`: sends nothing at all (`headers`), or nothing after the first half of the body (`body`).
 */
export interface VastResponse {
  status: number
  type: string
  body: string
  hold: 'none' | 'headers' | 'body'
  /** Allowed by CORS: the origin of the request, any, or none. */
  allow: 'origin' | 'any' | 'none'
}
