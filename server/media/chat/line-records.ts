// Splits text into lines: JSON Lines, or the lines of a log.
import { parseRecord } from './json-records.ts'
import { MAX_RECORD_LENGTH } from './record-splitter.ts'
import type { RecordSink, RecordSplitter } from './record-splitter.ts'

export class LineRecords implements RecordSplitter {
  readonly #sink: RecordSink
  readonly #content: 'json' | 'text'
  #line = ''
  #isTooLong = false

  constructor(content: 'json' | 'text', sink: RecordSink) {
    this.#content = content
    this.#sink = sink
  }

  add(text: string): void {
    let start = 0
    for (;;) {
      const end = text.indexOf('\n', start)
      this.#extend(text.slice(start, end === -1 ? text.length : end))
      if (end === -1) return
      this.#endLine()
      start = end + 1
    }
  }

  /** The last line may lack its newline. JSON shows whether it is cut off. */
  end(isGrowing: boolean): void {
    if (this.#content === 'json') parseRecord('', this.#line, { ...this.#sink, onSkipped: ignore })
    else if (!isGrowing) this.#endLine()
    this.#line = ''
  }

  #extend(text: string): void {
    this.#isTooLong ||= this.#line.length + text.length > MAX_RECORD_LENGTH
    this.#line = this.#isTooLong ? '' : this.#line + text
  }

  #endLine(): void {
    const [line, isTooLong] = [this.#line.trim(), this.#isTooLong]
    this.#line = ''
    this.#isTooLong = false
    if (isTooLong) this.#sink.onSkipped()
    else if (line === '') return
    else if (this.#content === 'json') parseRecord('', line, this.#sink)
    else this.#sink.onRecord({ name: '', value: line })
  }
}

function ignore(): void {
  // A line that is not complete yet is no damage.
}
