// Splits a file of TwitchDownloader into records: those of any JSON, and embedded images, which are
// longer and one level deeper.
import { JsonRecords } from './json-records.ts'
import type { OnRecord, RecordSplitter } from './record-splitter.ts'

/** A key with an object, never text in a string, whose quotes are escaped. */
const EMBEDDED = /"(?:embeddedData|emotes)"\s?:\s?\{/
const MAX_KEY_LENGTH = 20
/** Of an image of 256 KiB as base64, in which a writer may escape some characters. */
const MAX_IMAGE_LENGTH = 512 * 1024

export class TwitchRecords implements RecordSplitter {
  readonly #records: JsonRecords
  readonly #images: JsonRecords
  /** The end of what was read; undefined once the images have begun. */
  #rest: string | undefined = ''

  constructor(onRecord: OnRecord) {
    this.#records = new JsonRecords(onRecord)
    // What follows the images was read as a record already.
    this.#images = new JsonRecords(
      (record) => isImage(record) && onRecord(record),
      MAX_IMAGE_LENGTH,
    )
  }

  add(text: string): void {
    this.#records.add(text)
    if (this.#rest === undefined) return this.#images.add(text)
    const read = this.#rest + text
    const found = EMBEDDED.exec(read)
    this.#rest = found === null ? read.slice(-MAX_KEY_LENGTH) : undefined
    if (found !== null) this.#images.add(read.slice(found.index + found[0].length - 1))
  }

  end(): void {
    this.#records.end()
    this.#images.end()
  }
}

function isImage(record: unknown): boolean {
  return typeof record === 'object' && record !== null && 'data' in record
}
