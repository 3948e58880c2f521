// A growing recording that is watched: what was listed has to stay, with the same bytes. Its server
// takes it for growing until `end`, however slow the machine is.
import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { playlistApiPath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { settleSeconds } from '../../test/support/growing-file.ts'
import { fetchBytes, fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import type { ListedPlaylist } from '../../test/support/servers/hls-client.ts'
import { RECORDED_AT } from '../../test/support/temp-library.ts'

const POLL_MS = 50
/** Of the server. */
export const GROWING = { AFTERCAST_LIBRARY_SETTLE_SECONDS: String(settleSeconds) }

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
    // Before anything of it can be listed, requests fail.
    const request = this.#urls.length === 0 ? fetch : undefined
    const playlist = await fetchPlaylist(url + this.#playlistPath, request).catch(
      (error: unknown) => {
        if (this.#urls.length > 0) throw error
      },
    )
    return playlist === undefined ? [] : this.#compare(url, playlist, signal)
  }

  /** Settles the recording, and compares the list with its duration. */
  async end(url: string): Promise<string[]> {
    utimesSync(this.#file, RECORDED_AT, RECORDED_AT)
    let playlist = await fetchPlaylist(url + this.#playlistPath)
    while (!playlist.isEnded) {
      await sleep(POLL_MS)
      playlist = await fetchPlaylist(url + this.#playlistPath)
    }
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
    // The first and the last, and one of the others.
    const any = listed[Math.floor(Math.random() * listed.length)]
    for (const name of new Set([listed[0], any, listed.at(-1)])) {
      if (name === undefined) continue
      const bytes = await fetchBytes(url + name)
      signal?.throwIfAborted()
      const hash = createHash('sha256').update(bytes).digest('hex')
      if ((this.#hashes.get(name) ?? hash) !== hash) faults.push(`${name} has other bytes`)
      this.#hashes.set(name, hash)
    }
    return faults
  }
}
