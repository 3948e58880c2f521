// The error codes of VAST 4.3, 2.3.6.3. docs/advertising.md describes each.

export const VAST_ERROR_CODES = [
  100, 101, 102, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 400, 401, 402, 403,
  405, 406, 407, 408, 409, 410, 411, 500, 501, 502, 503, 600, 601, 602, 603, 604, 900, 901, 902,
] as const
export type VastErrorCode = (typeof VAST_ERROR_CODES)[number]
