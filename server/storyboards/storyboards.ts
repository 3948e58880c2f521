// Sheets of storyboards: cached or rendered, once for concurrent requests.
import { LRUCache } from 'lru-cache'
import { withTimeout } from '../../shared/with-timeout.ts'
import type { Gate } from '../admission/gate.ts'
import { SharedWork } from '../admission/shared-work.ts'
import { LimitedFolder } from '../artifacts/limited-folder.ts'
import { AppError } from '../errors.ts'
import type { Decoder } from '../thumbnails/decoder.ts'
import { CachedSheets } from './cached-sheets.ts'
import type { CachedSheetsOptions } from './cached-sheets.ts'
import { SheetRenderer } from './sheet-renderer.ts'
import type { RenderedSheet, StoryboardPart } from './sheet-renderer.ts'
import type { Sheet } from './sheets.ts'

export interface SheetRequest {
  sheet: Sheet
  /** The recordings of the session. */
  parts: readonly StoryboardPart[]
}

export interface StoryboardsOptions extends Omit<CachedSheetsOptions, 'cache'> {
  /** Cache folder; created if missing. */
  folder: string
  /** Undefined: only cached sheets. */
  decoder: Decoder | undefined
  /** Admits the sheets that are rendered. */
  gate: Gate
}

/** The sheets of about 1,500 recordings of some hours. */
const MAX_CACHE_BYTES = 1024 * 1024 * 1024
/** Of one sheet. What was decoded until then shortens the next attempt. */
const RENDER_TIMEOUT_MS = 20_000
/** Sheets that may change, and how long they are used. */
const MAX_PASSING_BYTES = 4 * 1024 * 1024
const PASSING_MS = 10 * 60 * 1000

export class Storyboards {
  readonly #cached: CachedSheets
  readonly #renderer: SheetRenderer | undefined
  readonly #gate: Gate
  readonly #closing = new AbortController()
  readonly #work = new SharedWork<RenderedSheet>()
  readonly #passing = new LRUCache<string, RenderedSheet>({
    maxSize: MAX_PASSING_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length,
    ttl: PASSING_MS,
  })

  constructor({ folder, decoder, gate, shared, log }: StoryboardsOptions) {
    const cache = new LimitedFolder({ folder, maxBytes: MAX_CACHE_BYTES })
    this.#cached = new CachedSheets({ cache, shared, log })
    this.#renderer = decoder && new SheetRenderer(decoder)
    this.#gate = gate
  }

  /**
   * The image of a sheet. Rejects with AppError `busy` if too many requests wait, or if it takes
   * too long; `gone`, `not_found` or `failed` if the recordings cannot be read; `not_found` without
   * a decoder; and with the signal's reason. A sheet that all requests have abandoned leaves the
   * queue.
   */
  async sheet(request: SheetRequest, signal: AbortSignal): Promise<RenderedSheet> {
    return this.#work.join(request.sheet.version, signal, async (abandoned) =>
      this.#findOrRender(request, AbortSignal.any([abandoned, this.#closing.signal])),
    )
  }

  /** Whether sheets that are not cached can be rendered. */
  get canRender(): boolean {
    return this.#renderer !== undefined
  }

  /** Aborts running work; waiting requests reject. The caller closes the decoder. */
  close(): void {
    this.#closing.abort(new Error('The storyboards are closed'))
  }

  async #findOrRender(request: SheetRequest, signal: AbortSignal): Promise<RenderedSheet> {
    const { version } = request.sheet
    const passing = this.#passing.get(version)
    if (passing !== undefined) return passing
    const stored = { version, isFinal: isFinal(request) }
    const bytes = await this.#cached.find(stored, signal)
    if (bytes !== undefined) return { bytes, isLasting: true }
    const renderer = this.#renderer
    if (renderer === undefined) throw new AppError('not_found', 'there is no storyboard')
    const rendered = await this.#gate.run(() => render(renderer, request, signal), signal)
    if (rendered.isLasting) await this.#cached.add(stored, rendered.bytes)
    else this.#passing.set(version, rendered)
    return rendered
  }
}

async function render(
  renderer: SheetRenderer,
  { sheet, parts }: SheetRequest,
  signal: AbortSignal,
): Promise<RenderedSheet> {
  return withTimeout(async (limit) => renderer.render(sheet, parts, limit), {
    timeoutMs: RENDER_TIMEOUT_MS,
    signal,
    reason: () => new AppError('busy', 'the images take too long; try again soon'),
  })
}

/** Whether other nodes have the same version of the sheet. */
function isFinal({ sheet, parts }: SheetRequest): boolean {
  return sheet.frames.every(({ part }) => parts[part]?.isFinal === true)
}
