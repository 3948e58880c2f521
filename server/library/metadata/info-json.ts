// `.info.json` as written by yt-dlp, and by recorders that follow it.
import { MAX_READ_CHAPTERS, orderChapters } from './chapters.ts'
import type { Chapter, RawChapter } from './chapters.ts'
import { cleanDescription, cleanTitle } from './clean-text.ts'
import { JsonFieldsParser } from './json-fields.ts'
import { plausibleStart } from '../catalog/names/start-time.ts'
import type { SidecarText, SidecarParser } from './sidecar-parser.ts'

/** What an `.info.json` contains of a session. */
export interface InfoJson extends SidecarText {
  chapters: Chapter[]
}

const FIELDS = ['title', 'fulltitle', 'game', 'categories', 'description', 'timestamp', 'chapters']

export class InfoJsonParser implements SidecarParser<InfoJson> {
  readonly #json = new JsonFieldsParser(FIELDS)

  add(bytes: Uint8Array): boolean {
    return this.#json.add(bytes)
  }

  end(): InfoJson | undefined {
    const fields = this.#json.end()
    if (fields === undefined) return undefined
    const title = cleanTitle(fields.get('title')) ?? cleanTitle(fields.get('fulltitle'))
    const game = cleanTitle(fields.get('game')) ?? firstCategory(fields.get('categories'))
    const description = cleanDescription(fields.get('description'))
    const timestamp = fields.get('timestamp')
    const startMs = typeof timestamp === 'number' ? plausibleStart(timestamp * 1000) : undefined
    return {
      ...(title !== undefined && { title }),
      ...(game !== undefined && { game }),
      ...(description !== undefined && { description }),
      ...(startMs !== undefined && { startMs }),
      chapters: parseChapters(fields.get('chapters')),
    }
  }
}

/** yt-dlp has the game of a stream as its only category. */
function firstCategory(value: unknown): string | undefined {
  const categories: readonly unknown[] = Array.isArray(value) ? value : []
  return cleanTitle(categories[0])
}

function parseChapters(value: unknown): Chapter[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : []
  const raw = entries.slice(0, MAX_READ_CHAPTERS).flatMap((entry): RawChapter[] => {
    if (typeof entry !== 'object' || entry === null) return []
    return [
      {
        startSeconds: Reflect.get(entry, 'start_time'),
        endSeconds: Reflect.get(entry, 'end_time'),
        title: Reflect.get(entry, 'title'),
      },
    ]
  })
  return orderChapters(raw)
}
