// Loads the images of a storyboard, few at a time: the video needs connections, too.

/** Concurrent requests; browsers allow six on HTTP/1.1. */
const REQUEST_LIMIT = 2
/** The server makes sheets on demand, and may be busy. Each further pause is twice as long. */
const RETRY_MS = 5000

interface Sheet {
  image: HTMLImageElement
  state: 'waiting' | 'loading' | 'loaded' | 'failed'
  attempts: number
}

/** The sheets that were requested, by URL. Those loaded stay in memory until `retain`. */
export class SheetLoader {
  readonly #sheets = new Map<string, Sheet>()
  readonly #listeners = new Set<() => void>()
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()

  isLoaded(url: string): boolean {
    return this.find(url) !== undefined
  }

  /** The image, once it is loaded. */
  find(url: string): HTMLImageElement | undefined {
    const sheet = this.#sheets.get(url)
    return sheet?.state === 'loaded' ? sheet.image : undefined
  }

  /** Calls back after each change. Returns the function to unsubscribe. */
  readonly subscribe = (onChange: () => void): (() => void) => {
    const listener = () => onChange()
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Requests a sheet, unless that was done before. `now`: before those that wait, and again if it
   * has failed.
   */
  request(url: string, order: 'now' | 'later'): void {
    const known = this.#sheets.get(url)
    const sheet = known ?? { image: new Image(), state: 'waiting', attempts: 0 }
    if (!known) this.#sheets.set(url, sheet)
    const isIdle = sheet.state === 'waiting' || sheet.state === 'failed'
    if (order === 'now' && isIdle) this.#load(url, sheet)
    else this.#continue()
  }

  /** Releases all other sheets. */
  retain(urls: ReadonlySet<string>): void {
    for (const [url, { image }] of this.#sheets) {
      if (urls.has(url)) continue
      this.#sheets.delete(url)
      cancel(image)
    }
    this.#continue()
  }

  /** Cancels all requests. */
  dispose(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#listeners.clear()
    for (const { image } of this.#sheets.values()) cancel(image)
    this.#sheets.clear()
  }

  #continue(): void {
    const sheets = [...this.#sheets]
    const loading = sheets.filter(([, { state }]) => state === 'loading').length
    const waiting = sheets.filter(([, { state }]) => state === 'waiting')
    for (const [url, sheet] of waiting.slice(0, Math.max(REQUEST_LIMIT - loading, 0))) {
      this.#load(url, sheet)
    }
  }

  #load(url: string, sheet: Sheet): void {
    const { image } = sheet
    sheet.state = 'loading'
    sheet.attempts += 1
    image.fetchPriority = 'low'
    // WebKit repeats the failure of an unchanged `src` without a request.
    image.removeAttribute('src')
    image.onload = () => this.#settle(sheet, 'loaded')
    image.onerror = () => {
      this.#settle(sheet, 'failed')
      this.#retryLater(sheet)
    }
    image.src = url
  }

  #settle(sheet: Sheet, state: 'loaded' | 'failed'): void {
    sheet.state = state
    this.#continue()
    for (const listener of this.#listeners) listener()
  }

  #retryLater(sheet: Sheet): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        if (sheet.state === 'failed') sheet.state = 'waiting'
        this.#continue()
      },
      RETRY_MS * 2 ** (sheet.attempts - 1),
    )
    this.#timers.add(timer)
  }
}

function cancel(image: HTMLImageElement): void {
  image.onload = null
  image.onerror = null
  image.removeAttribute('src')
}
