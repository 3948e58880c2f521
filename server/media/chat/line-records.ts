// Splits text into lines: JSON Lines, or the lines of a log.
import { parseRecord } from './json-records.ts'
import { keepRecord, MAX_RECORD_LENGTH } from './record-splitter.ts'
import type { OnRecord, RecordSplitter } from './record-splitter.ts'

export class LineRecords implements RecordSplitter {
  readonly #onRecord: OnRecord
  readonly #content: 'json' | 'text'
  /** The start of the last line. */
  #rest = ''

  constructor(content: 'json' | 'text', onRecord: OnRecord) {
    this.#content = content
    this.#onRecord = onRecord
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = keepRecord(lines.pop() ?? '')
    for (const line of lines) this.#read(line)
  }

  /** The last line may lack its newline. JSON shows whether it is cut off. */
  end(isGrowing: boolean): void {
    if (this.#content === 'json' || !isGrowing) this.#read(this.#rest)
  }

  #read(line: string): void {
    if (this.#content === 'json') parseRecord(line, this.#onRecord)
    else if (line.length <= MAX_RECORD_LENGTH) this.#onRecord(line.trim())
  }
}
