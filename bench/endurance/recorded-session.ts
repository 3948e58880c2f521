// A growing recording that is watched: what was listed has to stay, with the same bytes.
import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { playlistApiPath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { fetchBytes, fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import type { ListedPlaylist } from '../../test/support/servers/hls-client.ts'
import { RECORDED_AT } from '../../test/support/temp-library.ts'

const POLL_MS = 50
const ENDED_WITHIN_MS = 60_000

export interface RecordedSessionOptions {
  library: string
  session: SessionReference
  /** All of the recording, MPEG-TS. */
  bytes: Uint8Array
  seconds: number
  /** Number of writes that make the complete file. */
  appends: number
}

export class RecordedSession {
  readonly #options: RecordedSessionOptions
  readonly #file: string
  readonly #playlistPath: string
  readonly #hashes = new Map<string, string>()
  #written = 0
  #urls: string[] = []

  constructor(options: RecordedSessionOptions) {
    const { library, session } = options
    this.#options = options
    this.#file = path.join(library, session.streamer, session.date, `${session.sessionId}.ts`)
    this.#playlistPath = playlistApiPath(session)
    mkdirSync(path.dirname(this.#file), { recursive: true })
    this.append()
  }

  get isComplete(): boolean {
    return this.#written === this.#options.bytes.length
  }

  /** Writes the next part of the file. */
  append(): void {
    const { bytes, appends } = this.#options
    const end = this.#written + Math.ceil(bytes.length / appends)
    const chunk = bytes.subarray(this.#written, end)
    this.#written += chunk.length
    if (chunk.length > 0) appendFileSync(this.#file, chunk)
  }

  /** Notes what is listed; returns what contradicts what was listed before. */
  async watch(url: string, signal?: AbortSignal): Promise<string[]> {
    const playlist = await fetchPlaylist(url + this.#playlistPath, fetch).catch(
      (error: unknown) => {
        // Nothing of it can be listed yet.
        if (this.#urls.length === 0) return undefined
        throw error
      },
    )
    return playlist === undefined ? [] : this.#compare(url, playlist, signal)
  }

  /** Settles the recording, and compares the list with its duration. */
  async end(url: string): Promise<string[]> {
    utimesSync(this.#file, RECORDED_AT, RECORDED_AT)
    const playlist = await waitForEnd(url + this.#playlistPath)
    const { seconds } = this.#options
    const listed = playlist.segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)
    if (Math.abs(listed - seconds) > 1) return [`${listed} of ${seconds} seconds are listed`]
    return this.#compare(url, playlist)
  }

  async #compare(
    url: string,
    { segments }: ListedPlaylist,
    signal?: AbortSignal,
  ): Promise<string[]> {
    signal?.throwIfAborted()
    const listed = segments.map((segment) => new URL(segment.url).pathname)
    const faults: string[] = []
    if (this.#urls.some((known, at) => listed[at] !== known)) faults.push('a segment has gone')
    if (new Set(listed).size !== listed.length) faults.push('a segment is listed twice')
    this.#urls = listed
    for (const name of sample(listed)) {
      const bytes = await fetchBytes(url + name)
      signal?.throwIfAborted()
      const hash = createHash('sha256').update(bytes).digest('hex')
      if ((this.#hashes.get(name) ?? hash) !== hash) faults.push(`${name} has other bytes`)
      this.#hashes.set(name, hash)
    }
    return faults
  }
}

/** The first and the last, and one of the others. */
function sample(names: readonly string[]): string[] {
  const any = names[Math.floor(Math.random() * names.length)]
  return [...new Set([names[0], any, names.at(-1)])].filter((name) => name !== undefined)
}

async function waitForEnd(url: string): Promise<ListedPlaylist> {
  const untilMs = performance.now() + ENDED_WITHIN_MS
  for (;;) {
    const playlist = await fetchPlaylist(url)
    if (playlist.isEnded || performance.now() > untilMs) return playlist
    await sleep(POLL_MS)
  }
}
