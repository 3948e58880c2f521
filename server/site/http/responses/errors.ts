// Maps errors to responses: the one table of statuses, and the handler that hides internal details.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorResponse } from '../../../../shared/contract.ts'
import { AppError, UnplayableError } from '../../../base/errors.ts'
import type { ErrorCode } from '../../../base/errors.ts'
import { formatProblem } from '../../../base/problem-text.ts'

const STATUS: Record<ErrorCode, number> = {
  invalid: 400,
  not_found: 404,
  no_such_quality: 404,
  gone: 410,
  unplayable: 422,
  busy: 503,
  usage: 500,
  failed: 502,
}

const RETRY_AFTER_SECONDS = 1
/** Of the response that failed before its first byte (RFC 9110 8.8.3, 14.3, 14.4). */
const HEADERS_OF_BYTES = ['etag', 'accept-ranges', 'content-range']
const INTERNAL: ErrorResponse = { error: { code: 'internal', message: 'something went wrong' } }

/** Sends the response for an error. Internal errors are logged, and visitors get a fixed text. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  for (const name of HEADERS_OF_BYTES) void reply.removeHeader(name)
  void reply.header('cache-control', 'no-store')
  if (error instanceof UnplayableError) {
    const { message } = formatProblem(error.reason)
    return reply
      .code(STATUS[error.code])
      .send({ error: { code: error.code, message, reason: error.reason.code } })
  }
  if (error instanceof AppError) {
    const status = STATUS[error.code]
    if (status === 503) void reply.header('retry-after', RETRY_AFTER_SECONDS)
    if (status >= 500) request.log.warn({ err: error }, 'request failed')
    if (error.code === 'usage') return reply.code(status).send(INTERNAL)
    return reply.code(status).send(errorResponse(error.code, error.message))
  }
  const status = clientErrorStatus(error)
  if (status === 404)
    return reply.code(404).send(errorResponse('not_found', 'there is nothing here'))
  if (status !== undefined) {
    return reply.code(status).send(errorResponse('invalid', 'the request is malformed'))
  }
  request.log.error({ err: error }, 'unexpected error')
  return reply.code(500).send(INTERNAL)
}

/** Status of a rejection by the framework or a plugin (bad URL, large body, hidden file). */
function clientErrorStatus(error: unknown): number | undefined {
  const status: unknown = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined
  // A forbidden file must look like a missing one.
  return status === 403 ? 404 : status
}

/** The body of every error response. */
export function errorResponse(code: string, message: string): ErrorResponse {
  return { error: { code, message } }
}
