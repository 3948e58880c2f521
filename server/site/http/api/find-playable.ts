// Finds the session that a request names, for endpoints that need a playable one.
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import { AppError, UnplayableError } from '../../../base/errors.ts'
import { sessionTags } from '../../purge/cache-tags.ts'
import type { Call } from '../responses/answer.ts'
import { parseSessionParameters } from '../session-parameters.ts'

/** Tags the response. @throws AppError `not_found`, `gone`, `unplayable` */
export function findPlayable(catalog: Catalog, { request, tag }: Call): SessionRow {
  const session = parseSessionParameters(request.params)
  tag(sessionTags(session))
  const row = catalog.findSession(session)
  if (row === undefined) throw new AppError('not_found', 'there is no such session')
  // An empty file may have bytes by now, which the catalog does not list yet.
  const mayHaveBytes = row.sizeBytes === 0
  if (row.state.status === 'unplayable' && !mayHaveBytes) {
    throw new UnplayableError(row.state.reason)
  }
  return row
}
