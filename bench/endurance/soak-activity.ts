// What happens to the library during `npm run bench -- soak`, step by step: recordings are added,
// removed, hidden and recorded, and visitors browse.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsApiPath, streamersApiPath, thumbnailApiPath } from '../../shared/paths.ts'
import { makeLongTs } from '../../test/support/make/make-long-ts.ts'
import { runInNewProcess } from '../../test/support/servers/run-program.ts'
import { writeRecording } from './kill-library.ts'
import { RecordedSession } from './recorded-session.ts'

const STEP_MS = 500
/** In steps. */
const ADD_EVERY = 10
const HIDE_EVERY = 60
const KEPT_RECORDINGS = 20
/** Five minutes for each growing recording. */
const APPENDS = 600
const SECONDS = 300
const GUEST = 'guest'
const DATE = '2026-02-01'

export interface SoakFolders {
  library: string
  data: string
}

export class SoakActivity {
  readonly faults: string[] = []
  readonly counts = { added: 0, hidden: 0, recorded: 0, requests: 0 }
  readonly #url: string
  readonly #folders: SoakFolders
  readonly #bytes: Uint8Array
  #steps = 0
  #isHidden = false
  #recording: RecordedSession

  /** Makes the content of the growing recordings. */
  static async create(url: string, folders: SoakFolders): Promise<SoakActivity> {
    mkdirSync(folders.data, { recursive: true })
    const whole = path.join(folders.data, '..', 'whole.ts')
    await makeLongTs(whole, SECONDS)
    return new SoakActivity(url, folders, readFileSync(whole))
  }

  private constructor(url: string, folders: SoakFolders, bytes: Uint8Array) {
    this.#url = url
    this.#folders = folders
    this.#bytes = bytes
    this.#recording = this.#record()
  }

  /** One step takes half a second, or longer if the server is slow. */
  async step(): Promise<void> {
    const untilMs = performance.now() + STEP_MS
    this.#steps += 1
    this.#recording.append()
    await this.#browse()
    if (this.#steps % ADD_EVERY === 0) this.#replaceOldest()
    if (this.#steps % HIDE_EVERY === 0) await this.#toggleGuest()
    this.faults.push(...(await this.#recording.watch(this.#url)))
    if (this.#recording.isComplete) {
      this.faults.push(...(await this.#recording.end(this.#url)))
      this.#recording = this.#record()
    }
    await sleep(Math.max(0, untilMs - performance.now()))
  }

  #record(): RecordedSession {
    this.counts.recorded += 1
    return new RecordedSession({
      library: this.#folders.library,
      session: { streamer: 'live', date: DATE, sessionId: String(this.counts.recorded) },
      bytes: this.#bytes,
      seconds: SECONDS,
      appends: APPENDS,
    })
  }

  #replaceOldest(): void {
    const { library } = this.#folders
    this.counts.added += 1
    writeRecording(library, this.#guestSession(this.counts.added))
    const oldest = String(this.counts.added - KEPT_RECORDINGS)
    rmSync(path.join(library, GUEST, DATE, `${oldest}.mp4`), { force: true })
  }

  async #toggleGuest(): Promise<void> {
    const { data } = this.#folders
    const command = this.#isHidden ? 'unhide' : 'hide'
    const { code, stderr } = await runInNewProcess([command, GUEST, '--data', data], {
      workingFolder: data,
    })
    if (code !== 0) this.faults.push(`${command}: ${stderr}`)
    this.#isHidden = !this.#isHidden
    this.counts.hidden += 1
  }

  async #browse(): Promise<void> {
    await this.#request(streamersApiPath, [200])
    await this.#request('/', [200])
    await this.#request('/sitemap.xml', [200])
    // Hidden, removed or not listed yet.
    await this.#request(sessionsApiPath(GUEST), [200, 404, 410])
    const thumbnail = thumbnailApiPath(this.#guestSession(this.counts.added))
    await this.#request(thumbnail, [200, 404, 410, 503])
  }

  #guestSession(number: number) {
    return { streamer: GUEST, date: DATE, sessionId: String(number) }
  }

  async #request(target: string, expected: readonly number[]): Promise<void> {
    const response = await fetch(this.#url + target)
    await response.arrayBuffer()
    this.counts.requests += 1
    if (!expected.includes(response.status)) this.faults.push(`${response.status} for ${target}`)
  }
}
