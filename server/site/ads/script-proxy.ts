// Caches the ad scripts of configured hosts: fresh for five minutes, stale for a day if the
// upstream fails, one fetch at a time.
import { createHash } from 'node:crypto'
import { AppError } from '../../base/errors.ts'
import { fetchScript } from './fetch-script.ts'
import type { ScriptSource } from './fetch-script.ts'
import type { ResolveHost } from './public-address.ts'

/** A cached script. */
export interface ProxiedScript {
  bytes: Buffer
  etag: string
}

export interface ScriptProxyOptions {
  /** Ad hosts by their name in URLs. */
  hosts: ReadonlyMap<string, AdHost>
  resolve: ResolveHost
  /** Milliseconds of a monotonic clock. */
  now: () => number
  onFailure: (host: string, error: unknown) => void
  headersTimeoutMs?: number
  totalTimeoutMs?: number
}

/** A configured upstream. */
export interface AdHost {
  /** Its origin; the script's path is fixed. */
  origin: string
  allowPrivate: boolean
}

const SCRIPT_PATH = '/ad-provider.js'
const FRESH_MS = 5 * 60_000
const STALE_MS = 24 * 60 * 60_000
/** Shortest interval between attempts after a failure. */
const RETRY_MS = 30_000

interface Kept {
  script?: ProxiedScript
  fetchedMs: number
  failedMs: number
  underWay?: Promise<void>
}

/** Bounded by the configuration: one entry per host, each at most 1 MiB. */
export class ScriptProxy {
  readonly #options: ScriptProxyOptions
  readonly #kept = new Map<string, Kept>()
  readonly #closing = new AbortController()

  constructor(options: ScriptProxyOptions) {
    this.#options = options
  }

  /**
   * The script of a host.
   *
   * @throws AppError `not_found` for a host that is not configured; nothing is fetched
   * @throws AppError `failed` if the upstream fails and the cached script is older than a day
   */
  async script(name: string): Promise<ProxiedScript> {
    const host = this.#options.hosts.get(name)
    if (host === undefined) throw new AppError('not_found', 'there is no such ad host')
    const kept = this.#entry(name)
    if (!this.#isDue(kept)) return this.#usable(kept)
    kept.underWay ??= this.#refresh(name, host).finally(() => {
      delete kept.underWay
    })
    await kept.underWay
    return this.#usable(kept)
  }

  /** Aborts fetches in progress. */
  close(): void {
    this.#closing.abort(new Error('the server is closing'))
  }

  #entry(name: string): Kept {
    const known = this.#kept.get(name)
    if (known !== undefined) return known
    const entry: Kept = { fetchedMs: -Infinity, failedMs: -Infinity }
    this.#kept.set(name, entry)
    return entry
  }

  #isDue({ fetchedMs, failedMs }: Kept): boolean {
    const now = this.#options.now()
    return now - fetchedMs >= FRESH_MS && now - failedMs >= RETRY_MS
  }

  #usable({ script, fetchedMs }: Kept): ProxiedScript {
    if (script !== undefined && this.#options.now() - fetchedMs < FRESH_MS + STALE_MS) return script
    throw new AppError('failed', 'the ad script is not available')
  }

  /** Never rejects: a failure is logged and remembered. */
  async #refresh(name: string, { origin, allowPrivate }: AdHost): Promise<void> {
    const kept = this.#entry(name)
    const source: ScriptSource = { url: new URL(SCRIPT_PATH, origin), allowPrivate }
    try {
      const { resolve, headersTimeoutMs, totalTimeoutMs } = this.#options
      const bytes = await fetchScript(source, {
        resolve,
        signal: this.#closing.signal,
        ...(headersTimeoutMs === undefined ? {} : { headersTimeoutMs }),
        ...(totalTimeoutMs === undefined ? {} : { totalTimeoutMs }),
      })
      kept.script = { bytes, etag: formatEtag(bytes) }
      kept.fetchedMs = this.#options.now()
      kept.failedMs = -Infinity
    } catch (error) {
      kept.failedMs = this.#options.now()
      this.#options.onFailure(name, error)
    }
  }
}

/** Strong entity tag of the body (RFC 9110 8.8.3). */
export function formatEtag(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}
