// Converts errors of the SDK to AppErrors. Their messages have no headers and no credentials.
import { AppError, codeOf, systemReason } from '../../../base/errors.ts'
import { notFound } from '../visible-path.ts'

const ACCESS_DENIED = 'the store denies access: wrong credentials, or missing permissions'

/** What an operator has to change, by the error codes of S3 and the SDK. */
const KNOWN_FAILURES = new Map([
  ['NoSuchBucket', 'there is no such bucket'],
  ['InvalidAccessKeyId', ACCESS_DENIED],
  ['SignatureDoesNotMatch', ACCESS_DENIED],
  ['AccessDenied', ACCESS_DENIED],
  ['ERR_INVALID_URL', 'AWS_ENDPOINT_URL_S3 is no URL'],
  ['CredentialsProviderError', 'there are no credentials: see AWS_ACCESS_KEY_ID'],
])

/** Name and HTTP status of an error; `Error` and undefined if it has none. */
export interface StoreFailure {
  name: string
  status: number | undefined
}

export function describeFailure(error: unknown): StoreFailure {
  if (!(error instanceof Error)) return { name: 'Error', status: undefined }
  const metadata: unknown = Reflect.get(error, '$metadata')
  const status: unknown =
    typeof metadata === 'object' && metadata !== null
      ? Reflect.get(metadata, 'httpStatusCode')
      : undefined
  return {
    name: codeOf(error) || codeOf(error.cause) || error.name,
    status: typeof status === 'number' ? status : undefined,
  }
}

/**
 * `not_found` for a missing object, `gone` for a replaced one, `busy` if the store is unavailable
 * or overloaded, `failed` if it refuses the request.
 */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { name, status } = describeFailure(error)
  // Not the error itself: it has the request and the response.
  const cause = new Error(status === undefined ? nameOrMessage(error, name) : `${name} (${status})`)
  if (status === 404 && name !== 'NoSuchBucket') return notFound(cause)
  if (status === 412) {
    return new AppError('gone', 'the recording was replaced while it was read', { cause })
  }
  const known = KNOWN_FAILURES.get(name) ?? (status === 403 ? ACCESS_DENIED : undefined)
  if (known !== undefined) return new AppError('failed', known, { cause })
  const isRefused = status !== undefined && status >= 400 && status < 500 && !mayBeRepeated(status)
  if (isRefused) return new AppError('failed', `the store refuses the request (${name})`, { cause })
  return new AppError('busy', `the store is unavailable${unavailableReason(name)}`, { cause })
}

/** Visitors read none of the causes: they may name hosts. */
function nameOrMessage(error: unknown, name: string): string {
  return error instanceof Error && name === 'Error' ? error.message.slice(0, 300) : name
}

function unavailableReason(name: string): string {
  const words = systemReason(name)
  return words === undefined ? ` (${name})` : `: ${words} (${name})`
}

/** Whether the same request may succeed a moment later. */
function mayBeRepeated(status: number): boolean {
  return status === 408 || status === 425 || status === 429
}
