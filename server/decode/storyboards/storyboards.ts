// Sheets of storyboards: cached or rendered, once for concurrent requests.
import { withTimeout } from '../../../shared/with-timeout.ts'
import type { Admission } from '../../base/admission/limits.ts'
import { ClaimedCache } from '../../storage/artifacts/claimed-cache.ts'
import type { ClaimedBytes, ClaimedCacheOptions } from '../../storage/artifacts/claimed-cache.ts'
import { LimitedFolder } from '../../storage/artifacts/limited-folder.ts'
import { AppError } from '../../base/errors.ts'
import type { Decoder } from '../thumbnails/decoder.ts'
import { sniffImageType } from '../thumbnails/image-format.ts'
import { ImageBuffers } from '../thumbnails/image-buffers.ts'
import type { Leased } from '../thumbnails/image-buffers.ts'
import { SheetRenderer } from './sheet-renderer.ts'
import type { PartFrames } from '../../media/media-reader.ts'
import type { Sheet } from './sheets.ts'

export interface SheetRequest {
  sheet: Sheet
  /** The recordings of the session. */
  parts: readonly PartFrames[]
}

export interface StoryboardsOptions extends Pick<ClaimedCacheOptions, 'shared' | 'log'> {
  /** Cache folder; created if missing. */
  folder: string
  /** Undefined: only cached sheets. */
  decoder: Decoder | undefined
  admission: Pick<Admission, 'storyboards' | 'imageBytes'>
}

/** In the name of shared sheets: increment it when their format changes. */
const ARTIFACT_KIND = 'storyboard-1'
/** The sheets of about 1,500 recordings of some hours. */
const MAX_CACHE_BYTES = 1024 * 1024 * 1024
/** Time limit for one sheet. The next attempt uses the tiles that were decoded until then. */
const RENDER_TIMEOUT_MS = 20_000
/** Sheets that no request sends now, and how long they are used: some of them may change. */
const MAX_IDLE_BYTES = 4 * 1024 * 1024
const IDLE_MS = 10 * 60 * 1000

export class Storyboards {
  readonly #cached: ClaimedCache
  readonly #renderer: SheetRenderer | undefined
  readonly #admission: StoryboardsOptions['admission']
  readonly #closing = new AbortController()
  readonly #buffers: ImageBuffers<ClaimedBytes>

  constructor({ folder, decoder, admission, shared, log }: StoryboardsOptions) {
    const cache = new LimitedFolder({ folder, maxBytes: MAX_CACHE_BYTES })
    const jpeg = { kind: ARTIFACT_KIND, extension: 'jpg', isIntact: isJpeg }
    this.#cached = new ClaimedCache({ cache, shared, log, ...jpeg })
    this.#renderer = decoder && new SheetRenderer(decoder)
    this.#admission = admission
    this.#buffers = new ImageBuffers({
      gate: admission.imageBytes,
      maxIdleBytes: MAX_IDLE_BYTES,
      idleMs: IDLE_MS,
    })
  }

  /**
   * The image of a sheet, until the caller releases it. Rejects with AppError `busy` if too many
   * requests wait, or if it takes too long; `gone`, `not_found` or `failed` if the recordings
   * cannot be read; `not_found` without a decoder; and with the signal's reason. A sheet that all
   * requests have abandoned leaves the queue.
   */
  async sheet(request: SheetRequest, signal: AbortSignal): Promise<Leased<ClaimedBytes>> {
    const read = async (abandoned: AbortSignal): Promise<ClaimedBytes | undefined> =>
      this.#findOrRender(request, AbortSignal.any([abandoned, this.#closing.signal]))
    const sheet = await this.#buffers.lease({ key: request.sheet.version, read }, signal)
    if (sheet === undefined) throw new AppError('not_found', 'there is no storyboard')
    return sheet
  }

  /** Whether sheets that are not cached can be rendered. */
  get canRender(): boolean {
    return this.#renderer !== undefined
  }

  /** Aborts running work; waiting requests reject. The caller closes the decoder. */
  close(): void {
    this.#closing.abort(new Error('The storyboards are closed'))
  }

  async #findOrRender(
    request: SheetRequest,
    signal: AbortSignal,
  ): Promise<ClaimedBytes | undefined> {
    const stored = { version: request.sheet.version, isFinal: isFinal(request) }
    const bytes = await this.#cached.find(stored, signal)
    if (bytes !== undefined) return { bytes, isLasting: true }
    const renderer = this.#renderer
    if (renderer === undefined) return undefined
    const work = async (): Promise<ClaimedBytes> => render(renderer, request, signal)
    const rendered = await this.#admission.storyboards.run(work, signal)
    return rendered.isLasting ? this.#cached.add(stored, rendered.bytes, signal) : rendered
  }
}

async function render(
  renderer: SheetRenderer,
  { sheet, parts }: SheetRequest,
  signal: AbortSignal,
): Promise<ClaimedBytes> {
  return withTimeout(async (limit) => renderer.render(sheet, parts, limit), {
    timeoutMs: RENDER_TIMEOUT_MS,
    signal,
    reason: () => new AppError('busy', 'the images take too long; try again soon'),
  })
}

function isJpeg(bytes: Uint8Array): boolean {
  return sniffImageType(bytes) === 'image/jpeg'
}

/** Whether other nodes have the same version of the sheet. */
function isFinal({ sheet, parts }: SheetRequest): boolean {
  return sheet.frames.every(({ part }) => parts[part]?.isFinal === true)
}
