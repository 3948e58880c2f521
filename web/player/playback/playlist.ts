// The playlist of a session, with the audio that the visitor chose.

export class Playlist {
  readonly #url: string
  #audio: string
  /** Called after a change of the URL: the engine continues with the new one. */
  onChange: () => void = () => undefined

  /** @param audio `trackKey`; empty for the default */
  constructor(url: string, audio: string) {
    this.#url = url
    this.#audio = audio
  }

  get url(): string {
    return this.#url + (this.#audio && `?audio=${this.#audio}`)
  }

  get audio(): string {
    return this.#audio
  }

  /** Continues with another audio. */
  selectAudio(audio: string): void {
    this.#audio = audio
    this.onChange()
  }
}
