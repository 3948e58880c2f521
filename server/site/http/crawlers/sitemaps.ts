// The sitemaps of the site, cached until the catalog changes.
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { createTextCache, TextResponse } from '../responses/text-response.ts'
import type { TextResponseOptions } from '../responses/text-response.ts'
import { formatSitemapIndex, writeSitemap } from './write-sitemap.ts'
import type { SitemapLimits, SitemapSource, SitePosition } from './write-sitemap.ts'

/** The protocol allows 50,000 URLs and 50 MB; joining 10 MB takes a few milliseconds. */
const LIMITS: SitemapLimits = { urls: 50_000, bytes: 10_000_000 }
const MAX_CACHED_BYTES = 64 * 1024 * 1024
/** Part of a core that sitemaps may cost while the catalog changes all the time. */
const MAX_SHARE = 0.05
/** A hidden name disappears within this time. */
const MAX_REST_MS = 2000

export interface SitemapOptions {
  catalog: Pick<Catalog, 'generation' | 'listStreamers' | 'sessionsAfter'>
  /** Public origin of the site, without a trailing slash. */
  origin: () => string
  response: TextResponseOptions
  limits?: SitemapLimits
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

/** All sitemaps of one generation of the catalog. */
interface Outline extends SitemapSource {
  generation: number
  /** The last page before each sitemap; undefined for the first one. */
  starts: readonly (SitePosition | undefined)[]
  index: TextResponse
  /** Until then it is served even if the catalog has changed. */
  restsUntilMs: number
}

export class Sitemaps {
  readonly #options: Required<SitemapOptions>
  readonly #sitemaps = createTextCache(MAX_CACHED_BYTES)
  readonly #inFlight = new Map<string, Promise<TextResponse>>()
  #outline: Outline | undefined
  #building: Promise<Outline> | undefined

  constructor(options: SitemapOptions) {
    this.#options = { limits: LIMITS, now: () => performance.now(), ...options }
  }

  /** Memory of all cached sitemaps. */
  get cachedBytes(): number {
    return this.#sitemaps.calculatedSize
  }

  /** Whether what `main` and `numbered` return may have names that were hidden since. */
  get isOutdated(): boolean {
    return this.#outline?.generation !== this.#options.catalog.generation()
  }

  /** All pages, or an index if one sitemap cannot list them. */
  async main(): Promise<TextResponse> {
    const outline = await this.#current()
    return outline.starts.length === 1 ? this.#find(outline, 0) : outline.index
  }

  /** A sitemap of the index, counted from 1; undefined if there is none. */
  async numbered(number: number): Promise<TextResponse | undefined> {
    const outline = await this.#current()
    return number > 0 && number <= outline.starts.length
      ? this.#find(outline, number - 1)
      : undefined
  }

  async #current(): Promise<Outline> {
    const { catalog, now } = this.#options
    const known = this.#outline
    if (known !== undefined) {
      if (now() < known.restsUntilMs || catalog.generation() === known.generation) return known
    }
    this.#building ??= this.#build().finally(() => {
      this.#building = undefined
    })
    return this.#building
  }

  /** Writes all sitemaps once to find where each starts; the cache holds as many as fit. */
  async #build(): Promise<Outline> {
    const { catalog, response, limits, now } = this.#options
    const startedMs = now()
    const generation = catalog.generation()
    const source = { catalog, streamers: catalog.listStreamers(), origin: this.#options.origin() }
    const starts: (SitePosition | undefined)[] = []
    let end: SitePosition | undefined
    do {
      starts.push(end)
      const written = await writeSitemap(source, end, limits)
      const key = keyOf(generation, starts.length - 1)
      this.#sitemaps.set(key, new TextResponse(written.text, response))
      end = written.end
    } while (end !== undefined)
    const index = new TextResponse(formatSitemapIndex(source.origin, starts.length), response)
    const builtMs = now()
    const restMs = Math.min(MAX_REST_MS, (builtMs - startedMs) / MAX_SHARE)
    const restsUntilMs = builtMs + restMs
    this.#outline = { ...source, generation, starts, index, restsUntilMs }
    const isOld = (key: string): boolean => !key.startsWith(keyPrefix(generation))
    for (const key of [...this.#sitemaps.keys()].filter(isOld)) this.#sitemaps.delete(key)
    return this.#outline
  }

  /** Writes an evicted sitemap again, once for concurrent requests. */
  async #find(outline: Outline, at: number): Promise<TextResponse> {
    const key = keyOf(outline.generation, at)
    const cached = this.#sitemaps.get(key) ?? this.#inFlight.get(key)
    if (cached !== undefined) return cached
    const flight = this.#rewrite(outline, at).finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, flight)
    return flight
  }

  async #rewrite(outline: Outline, at: number): Promise<TextResponse> {
    const { response, limits } = this.#options
    const { text } = await writeSitemap(outline, outline.starts[at], limits)
    const written = new TextResponse(text, response)
    this.#sitemaps.set(keyOf(outline.generation, at), written)
    return written
  }
}

function keyOf(generation: number, at: number): string {
  return `${keyPrefix(generation)}${at}`
}

function keyPrefix(generation: number): string {
  return `${generation} `
}
