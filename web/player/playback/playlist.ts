// The playlist of a session, with the audio and the quality that the visitor chose.

/** The quality that has no picture. */
export const SOUND_ONLY = 'audio'

/** A selection for all sessions. */
export const ORIGINAL = { quality: '' }

/** What is played of a session. */
interface Selection {
  /** `trackKey`; empty for the default. */
  audio: string
  /** Id of a quality; empty for the original. */
  quality: string
}

export class Playlist {
  readonly #url: string
  #selection: Selection
  /** Called after a change of the URL: the engine continues with the new one. */
  onChange: (change: Partial<Selection>) => void = () => undefined

  /** Called when the server has no time for a request (503). */
  onBusy: () => void = () => undefined

  constructor(url: string, { audio = '', quality = '' }: Partial<Selection> = {}) {
    this.#url = url
    this.#selection = { audio, quality }
  }

  get url(): string {
    const chosen = Object.entries(this.#selection).filter(([, value]) => value)
    return this.#url + chosen.map(([name, value], i) => `${i ? '&' : '?'}${name}=${value}`).join('')
  }

  get audio(): string {
    return this.#selection.audio
  }

  get quality(): string {
    return this.#selection.quality
  }

  get hasPicture(): boolean {
    return this.quality !== SOUND_ONLY
  }

  /** Continues with another audio or quality. */
  select(change: Partial<Selection>): void {
    this.#selection = { ...this.#selection, ...change }
    this.onChange(change)
  }

  /** Whether this status may mean that the session lacks the quality. */
  mayLackQuality(status: number | undefined): boolean {
    return status === 404 && this.quality !== ''
  }
}
