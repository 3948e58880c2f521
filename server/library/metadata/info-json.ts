// `.info.json` as written by yt-dlp, and by recorders that follow it.
import { MAX_READ_CHAPTERS, orderChapters } from './chapters.ts'
import type { Chapter, RawChapter } from './chapters.ts'
import { CHAT_FIELDS, parseChatSettings } from './chat-settings.ts'
import type { ChatSettings } from './chat-settings.ts'
import { cleanDescription, cleanTitle } from '../../base/clean-text.ts'
import { JsonFieldsParser } from './json-fields.ts'
import { plausibleStart, zonedStart } from '../catalog/names/start-time.ts'
import type { SidecarText, SidecarParser } from './sidecar-parser.ts'

/** What an `.info.json` contains of a session. */
export interface InfoJson extends SidecarText, ChatSettings {
  chapters: Chapter[]
}

/** The start by field, best first: seconds since 1970 of yt-dlp, ISO 8601 of Ganymede. */
const STARTS = ['release_timestamp', 'timestamp', 'started_at', 'created_at'] as const
const TEXTS = ['title', 'fulltitle', 'game', 'categories', 'description', 'chapters']
const FIELDS = [...TEXTS, ...STARTS, ...CHAT_FIELDS]

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
    const starts = STARTS.map((name) => parseStart(fields.get(name)))
    const startMs = starts.find((start) => start !== undefined)
    return {
      ...(title !== undefined && { title }),
      ...(game !== undefined && { game }),
      ...(description !== undefined && { description }),
      ...(startMs !== undefined && { startMs }),
      ...parseChatSettings(fields),
      chapters: parseChapters(fields.get('chapters')),
    }
  }
}

function parseStart(value: unknown): number | undefined {
  return typeof value === 'number' ? plausibleStart(value * 1000) : zonedStart(value)
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
