// Why the shared database does not work, in words that contain no secret.
import { codeOf, systemReason } from '../../base/errors.ts'
import { inOneLine } from '../../../shared/printable.ts'

/** `refused` by its configuration: a repetition gives the same. `unreachable`: it may pass. */
export interface ConnectionProblem {
  kind: 'refused' | 'unreachable'
  text: string
}

/** Messages of the driver about a configuration that cannot work. */
const REFUSED = /^SASL|does not support SSL|self[- ]signed certificate|certificate/i

/** Describes an error of a statement or connection. */
export function describeProblem(error: unknown): ConnectionProblem {
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  // Classes of SQLSTATE: invalid authorization, invalid catalog name, insufficient privilege.
  const isRefused = /^(?:28...|3D...|42501)$/.test(code) || REFUSED.test(message)
  const reason = systemReason(code) ?? (message === '' ? code : inOneLine(message))
  const file = unreadableFile(error)
  const isOfUrl = file !== undefined || error instanceof URIError
  return {
    kind: isRefused || isOfUrl ? 'refused' : 'unreachable',
    text: file === undefined ? reason : `${reason}: ${inOneLine(file)}`,
  }
}

/** The file of a certificate that the URL names, if the driver cannot read it. */
function unreadableFile(error: unknown): string | undefined {
  const isOfFile = error instanceof Error && 'syscall' in error && error.syscall === 'open'
  const mayPass = ['EMFILE', 'ENFILE'].includes(codeOf(error))
  return isOfFile && !mayPass && 'path' in error ? String(error.path) : undefined
}
