// GET /api/storyboard/…: the WebVTT file of a session's storyboard, and its sheets of tiles.
import fresh from 'fresh'
import { outsidePatterns, pathPatterns, sessionKey } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { formatStoryboard } from '../../../decode/storyboards/format-vtt.ts'
import { SUBTITLE_TYPE } from '../../../stream/hls/playlist/media-types.ts'
import type { ApiSources } from './api-sources.ts'
import { findPlayable } from './find-playable.ts'
import type { Answer, Endpoint } from '../responses/answer.ts'
import { SHEET_TILES } from '../../../decode/storyboards/plan-storyboard.ts'
import { parseSheetName } from '../../../decode/storyboards/sheets.ts'
import { parseName } from '../session-parameters.ts'

export function createStoryboardEndpoint(sources: ApiSources): Endpoint {
  const { catalog, storyboards, sessionStoryboards } = sources
  return {
    path: pathPatterns.storyboard,
    kind: 'storyboard',
    admission: 'inside',
    answer: async (call) => {
      const row = findPlayable(catalog, call)
      if (!storyboards.canRender) throw new AppError('not_found', 'there is no storyboard')
      const { plan, sheets, isGrowing } = await sessionStoryboards.find(row, call.signal)
      // As the playlist.
      const cache = isGrowing ? 'short' : 'hour'
      const versions = sheets.map((sheet) => sheet.version)
      const version = [cache, plan.durationMs, plan.stepMs, ...versions].join(' ')
      return {
        body: {
          kind: 'text',
          cached: { key: `storyboard ${sessionKey(row)}`, version },
          format: () => formatStoryboard(plan, sheets),
        },
        type: SUBTITLE_TYPE,
        cache,
        security: 'data',
      }
    },
  }
}

export function createStoryboardSheetEndpoint(sources: ApiSources): Endpoint {
  const { catalog, storyboards, sessionStoryboards } = sources
  return {
    path: outsidePatterns.storyboardFile,
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
