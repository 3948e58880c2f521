// GET /api/storyboard/…/storyboard.vtt: the WebVTT file of a session's storyboard.
import { pathPatterns, sessionKey } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { formatStoryboard } from '../../../decode/storyboards/format-vtt.ts'
import type { Storyboards } from '../../../decode/storyboards/storyboards.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { SUBTITLE_TYPE } from '../../../stream/hls/playlist/media-types.ts'
import { findPlayable } from './find-playable.ts'
import type { Endpoint } from '../responses/answer.ts'
import type { SessionStoryboards } from './session-storyboards.ts'

export interface StoryboardEndpointSources {
  catalog: Catalog
  storyboards: Storyboards
  sessionStoryboards: SessionStoryboards
}

export function createStoryboardEndpoint(sources: StoryboardEndpointSources): Endpoint {
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
