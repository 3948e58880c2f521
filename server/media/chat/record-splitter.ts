// The interface of the splitters, which cut the text of a chat file into records, and its limit.

export interface XmlElement {
  name: string
  attributes: Readonly<Record<string, string>>
  text: string
}

/** Takes a record: parsed JSON, a line, or an `XmlElement`. */
export type OnRecord = (record: unknown) => void

/**
 * Takes a file in chunks. Text of any content is valid input: nothing throws, and records that are
 * malformed or too long are left out.
 */
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

/** The end of what was read, of a record that is not complete: too long records stay too long. */
export function keepRecord(text: string, maxLength = MAX_RECORD_LENGTH): string {
  return text.slice(0, maxLength + 1)
}
