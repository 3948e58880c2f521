// Why the shared database does not work, in words that contain no secret.
import { inOneLine } from '../../shared/printable.ts'

/** `refused` by its configuration: a repetition gives the same. `unreachable`: it may pass. */
export interface ConnectionProblem {
  kind: 'refused' | 'unreachable'
  text: string
}

/** Messages of the driver about a configuration that cannot work. */
const REFUSED = /^SASL|does not support SSL|self[- ]signed certificate|certificate/i

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the host',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'no response',
}

/** Describes an error of a statement or connection. */
export function describeProblem(error: unknown): ConnectionProblem {
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  // Classes of SQLSTATE: invalid authorization, invalid catalog name, insufficient privilege.
  const isRefused = /^(?:28...|3D...|42501)$/.test(code) || REFUSED.test(message)
  const text = REASONS[code] ?? (message === '' ? code : inOneLine(message))
  return { kind: isRefused ? 'refused' : 'unreachable', text }
}

/** Host names with several addresses fail with one error for each. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors.at(0))
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
