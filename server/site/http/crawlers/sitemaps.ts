// The sitemaps of the site: which there are, and the text of each, until the catalog changes.
import type { Catalog } from '../../../library/catalog/catalog.ts'
import type { TextBody } from '../responses/answer.ts'
import type { HashedText } from '../responses/text-response.ts'
import { PacedGeneration } from './paced-generation.ts'
import { formatSitemapIndex, writeSitemap } from './write-sitemap.ts'
import type { SitemapLimits, SitemapSource, SitePosition } from './write-sitemap.ts'

/** The protocol allows 50,000 URLs and 50 MB; joining 10 MB takes a few milliseconds. */
const LIMITS: SitemapLimits = { urls: 50_000, bytes: 10_000_000 }

export interface SitemapOptions {
  catalog: Pick<Catalog, 'generation' | 'listStreamers' | 'sessionsAfter'>
  /** Public origin of the site, without a trailing slash. */
  origin: () => string
  limits?: SitemapLimits
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

/** All sitemaps of one generation of the catalog. */
interface Outline extends SitemapSource {
  generation: number
  /** The last page before each sitemap; undefined for the first one. */
  starts: readonly (SitePosition | undefined)[]
  /** The text of the first one, until a response has it. */
  first: HashedText | undefined
}

export class Sitemaps {
  readonly #options: SitemapOptions & { limits: SitemapLimits }
  readonly #generations: PacedGeneration
  #outline: Outline | undefined
  #building: Promise<Outline> | undefined

  constructor(options: SitemapOptions) {
    this.#options = { limits: LIMITS, ...options }
    this.#generations = new PacedGeneration(options.catalog, options.now)
  }

  /** Whether what `main` and `numbered` return may have names that were hidden since. */
  get isOutdated(): boolean {
    return this.#outline?.generation !== this.#options.catalog.generation()
  }

  /** All pages, or an index if one sitemap cannot list them. */
  async main(): Promise<TextBody> {
    const outline = await this.#current()
    const { generation, origin, starts } = outline
    if (starts.length === 1) return this.#sitemap(outline, 0)
    return {
      kind: 'text',
      cached: { key: 'sitemap', version: generation },
      format: () => formatSitemapIndex(origin, starts.length),
    }
  }

  /** A sitemap of the index, counted from 1; undefined if there is none. */
  async numbered(number: number): Promise<TextBody | undefined> {
    const outline = await this.#current()
    const exists = number > 0 && number <= outline.starts.length
    return exists ? this.#sitemap(outline, number - 1) : undefined
  }

  async #current(): Promise<Outline> {
    if (this.#outline?.generation === this.#generations.current()) return this.#outline
    this.#building ??= this.#build().finally(() => {
      this.#building = undefined
    })
    return this.#building
  }

  /** Writes all sitemaps once to find where each starts. */
  async #build(): Promise<Outline> {
    const { catalog, limits } = this.#options
    const generation = catalog.generation()
    const end = this.#generations.start(generation)
    const source = { catalog, streamers: catalog.listStreamers(), origin: this.#options.origin() }
    const starts: (SitePosition | undefined)[] = []
    let first: HashedText | undefined
    let after: SitePosition | undefined
    do {
      starts.push(after)
      const written = await writeSitemap(source, after, limits)
      first ??= written.text
      after = written.end
    } while (after !== undefined)
    end()
    this.#outline = { ...source, generation, starts, first }
    return this.#outline
  }

  #sitemap(outline: Outline, at: number): TextBody {
    return {
      kind: 'text',
      cached: { key: `sitemap ${at}`, version: outline.generation },
      format: async () => {
        const known = at === 0 ? outline.first : undefined
        if (at === 0) outline.first = undefined
        if (known !== undefined) return known
        const { text } = await writeSitemap(outline, outline.starts[at], this.#options.limits)
        return text
      },
    }
  }
}
