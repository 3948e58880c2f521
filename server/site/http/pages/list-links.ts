// The pages of a long list, for crawlers and visitors without JavaScript: `/?page=2`.
import { LRUCache } from 'lru-cache'
import { playerPagePath, sessionsPagePath } from '../../../../shared/paths.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import type { Link } from './page-shell.ts'

/** One page of a list. */
export interface ListPage {
  /** From 1. */
  number: number
  /** Of the whole list. */
  pages: number
  /** Items of the whole list. */
  total: number
  /** Position of the first item in the whole list, from 1. */
  first: number
  items: readonly Link[]
}

const ITEMS_PER_PAGE = 50
const MAX_CACHED_PAGES = 200

/** The pages of lists, cached until the catalog changes. */
export class ListLinks {
  readonly #catalog: Catalog
  readonly #pages = new LRUCache<string, ListPage>({ max: MAX_CACHED_PAGES })
  #generation = -1

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** Undefined if the list has fewer pages. */
  streamers(number: number): ListPage | undefined {
    return this.#find(`/ ${number}`, () => {
      const streamers = this.#catalog.listStreamers()
      return createPage(streamers.length, number, ({ offset, limit }) =>
        streamers.slice(offset, offset + limit).map(({ name, recording_count: count }) => ({
          path: sessionsPagePath(name),
          text: `${name} (${count} ${count === 1 ? 'recording' : 'recordings'})`,
        })),
      )
    })
  }

  /** Undefined if the list has fewer pages. @throws AppError `gone` for a hidden streamer */
  sessions(streamer: string, number: number): ListPage | undefined {
    return this.#find(`/s/${streamer} ${number}`, () =>
      createPage(this.#catalog.countSessions(streamer), number, (range) =>
        this.#catalog.sessionsAt(streamer, range).map((session) => {
          const names = `${session.date} - ${session.sessionId}`
          const text = session.title === undefined ? names : `${session.title} · ${names}`
          return { path: playerPagePath(session), text }
        }),
      ),
    )
  }

  #find(key: string, create: () => ListPage | undefined): ListPage | undefined {
    const generation = this.#catalog.generation()
    if (generation !== this.#generation) this.#pages.clear()
    this.#generation = generation
    const known = this.#pages.get(key) ?? create()
    this.#pages.set(key, known)
    return known
  }
}

function createPage(
  total: number,
  number: number,
  read: (range: { offset: number; limit: number }) => Link[],
): ListPage | undefined {
  const pages = Math.max(1, Math.ceil(total / ITEMS_PER_PAGE))
  if (number > pages) return undefined
  const offset = (number - 1) * ITEMS_PER_PAGE
  const items = read({ offset, limit: ITEMS_PER_PAGE })
  return { number, pages, total, first: offset + 1, items }
}

/** The number in `?page=`, 1 if there is none or it is malformed. */
export function parsePageNumber(query: unknown): number {
  const values: object = typeof query === 'object' && query !== null ? query : {}
  const value: unknown = Reflect.get(values, 'page')
  return typeof value === 'string' && /^[1-9]\d{0,6}$/.test(value) ? Number(value) : 1
}
