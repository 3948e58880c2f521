// GET /api/storyboard/…/{file}: a sheet of tiles of a session's storyboard.
import fresh from 'fresh'
import { pathPatterns } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { SHEET_TILES } from '../../../decode/storyboards/plan-storyboard.ts'
import { parseSheetName } from '../../../decode/storyboards/sheets.ts'
import { findPlayable } from './find-playable.ts'
import type { Answer, Endpoint } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'
import type { StoryboardEndpointSources } from './storyboard.ts'

export function createStoryboardSheetEndpoint(sources: StoryboardEndpointSources): Endpoint {
  const { catalog, storyboards, sessionStoryboards } = sources
  return {
    path: pathPatterns.storyboardFile,
    kind: 'storyboard',
    admission: 'inside',
    answer: async (call): Promise<Answer> => {
      const { request, signal } = call
      const name = parseSheetName(parseName(request.params, 'file'))
      const row = findPlayable(catalog, call)
      const found = name && (await sessionStoryboards.findSheet(row, name, signal))
      if (found === undefined) throw new AppError('not_found', 'there is no such file')
      const { sheet, isGrowing } = found
      const etag = `"${sheet.version}"`
      // A sheet may have fewer tiles than it will have, or lack frames that may be decoded later.
      const mayGrow = isGrowing && sheet.frames.length < SHEET_TILES
      const cache = mayGrow ? 'minute' : 'immutable'
      const head = { type: 'image/jpeg', security: 'data' } as const
      if (fresh(request.headers, { etag }))
        return { ...head, body: { kind: 'unchanged', etag }, cache }
      const { bytes, isLasting, release } = await storyboards.sheet(found, signal)
      return {
        ...head,
        // Without an ETag, a client that revalidates gets the frames that were missing.
        body: { kind: 'image', bytes, ...(isLasting && { etag }) },
        cache: isLasting ? cache : 'minute',
        release,
      }
    },
  }
}
