// The interface of the splitters, which cut the text of a chat file into records, and its limits.

/** One record of a chat file: an element of a list, a line, or an XML element. */
export interface ChatRecord {
  /** The field of the list, or the name of the element; '' for a line or a list without a name. */
  name: string
  /** What is in it: parsed JSON, a line, or an `XmlElement`. */
  value: unknown
}

export interface XmlElement {
  attributes: Readonly<Record<string, string>>
  text: string
}

export interface RecordSink {
  onRecord(this: void, record: ChatRecord): void
  /** A record is too long or malformed, and left out. */
  onSkipped(this: void): void
}

/** Takes a file in chunks. Text of any content is valid input: nothing throws. */
export interface RecordSplitter {
  add(text: string): void
  /**
   * After the last chunk: a record that is not complete is left out.
   *
   * @param isGrowing the file may be cut anywhere
   */
  end(isGrowing: boolean): void
}

/** UTF-16 code units of a record; those of real files have some hundred to some thousand. */
export const MAX_RECORD_LENGTH = 64 * 1024
