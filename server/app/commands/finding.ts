// What `aftercast doctor` finds.

/**
 * - `ok`: as it should be
 * - `warning`: the site works, but not all of it, or not for long
 * - `failure`: the site cannot be served
 */
export type Finding =
  | { level: 'ok'; text: string }
  /** `remedy` says what an operator can do. */
  | { level: 'warning' | 'failure'; text: string; remedy: string }

export function ok(text: string): Finding {
  return { level: 'ok', text }
}

export function warning(text: string, remedy: string): Finding {
  return { level: 'warning', text, remedy }
}

export function failure(text: string, remedy: string): Finding {
  return { level: 'failure', text, remedy }
}
