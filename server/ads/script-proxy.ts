// Keeps the ad scripts of the configured hosts: fresh for five minutes, a day where the upstream fails, one fetch at a time.
import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'
import { fetchScript } from './fetch-script.ts'
import type { ScriptSource } from './fetch-script.ts'
import type { ResolveHost } from './public-address.ts'

/** A script as it is answered. */
export interface ProxiedScript {
  bytes: Buffer
  etag: string
}

export interface ScriptProxyOptions {
  /** Ad hosts by the name they have in URLs. */
  hosts: ReadonlyMap<string, AdHost>
  resolve: ResolveHost
  /** Milliseconds on a clock that never jumps. */
  now: () => number
  onFailure: (host: string, error: unknown) => void
  headersTimeoutMs?: number
  totalTimeoutMs?: number
}

/** A configured upstream. */
export interface AdHost {
  /** Its origin; the path of the script is fixed. */
  origin: string
  allowPrivate: boolean
}

const SCRIPT_PATH = '/ad-provider.js'
const FRESH_MS = 5 * 60_000
const STALE_MS = 24 * 60 * 60_000
/** After a failure the upstream is left alone for so long. */
const RETRY_MS = 30_000

interface Kept {
  script?: ProxiedScript
  fetchedMs: number
  failedMs: number
  underWay?: Promise<void>
}

/** Bounded by the configuration: one entry for each host, each of at most 1 MiB. */
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
   * @throws AppError `not_found` where the configuration has no such host: nothing is fetched then
   * @throws AppError `failed` where the upstream fails and nothing younger than a day is kept
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

  /** Gives up what is under way. */
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
    throw new AppError('failed', 'the ad script cannot be had')
  }

  /** Never rejects: a failure is told to the log and remembered. */
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

/** Strong entity tag (RFC 9110 8.8.3) of the body. */
export function formatEtag(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}
