// Converts errors of the SDK to AppErrors. Their messages have no headers and no credentials.
import { AppError } from '../../errors.ts'
import { notFound } from '../visible-path.ts'

const ACCESS_DENIED = 'the store denies access: wrong credentials, or missing permissions'

/** What an operator has to change, by the error codes of S3 and the SDK. */
const KNOWN_FAILURES = new Map([
  ['NoSuchBucket', 'there is no such bucket'],
  ['InvalidAccessKeyId', ACCESS_DENIED],
  ['SignatureDoesNotMatch', ACCESS_DENIED],
  ['AccessDenied', ACCESS_DENIED],
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
  const code: unknown = Reflect.get(error, 'code')
  return {
    name: typeof code === 'string' ? code : error.name,
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
  const cause = new Error(status === undefined ? name : `${name} (${status})`)
  if (status === 404 && name !== 'NoSuchBucket') return notFound(cause)
  if (status === 412) {
    return new AppError('gone', 'the recording was replaced while it was read', { cause })
  }
  const known = KNOWN_FAILURES.get(name) ?? (status === 403 ? ACCESS_DENIED : undefined)
  if (known !== undefined) return new AppError('failed', known, { cause })
  const isRefused = status !== undefined && status >= 400 && status < 500 && !mayBeRepeated(status)
  if (isRefused) return new AppError('failed', `the store refuses the request (${name})`, { cause })
  return new AppError('busy', `the store is unavailable (${name})`, { cause })
}

/** Whether the same request may succeed a moment later. */
function mayBeRepeated(status: number): boolean {
  return status === 408 || status === 425 || status === 429
}
