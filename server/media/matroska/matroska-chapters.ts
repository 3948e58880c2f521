// Chapters of Matroska (RFC 9559 5.1.7): of the default edition, without those inside of others.
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { ReadWindow } from '../../storage/recordings/read-window.ts'
import { MAX_CHAPTER_TITLE_BYTES, MAX_RECORDED_CHAPTERS } from '../media-reader.ts'
import type { RecordedChapter } from '../media-reader.ts'
import {
  MAX_HEADER_BYTES,
  parseChildren,
  parseHeader,
  parseText,
  parseUnsigned,
} from './elements/ebml.ts'
import type { Element } from './elements/ebml.ts'
import {
  CHAPTER,
  CHAPTERS,
  CLUSTER,
  EBML_HEADER,
  SEEK,
  SEEK_HEAD,
  SEGMENT,
} from './elements/element-ids.ts'

/** Elements of the segment before the first cluster. */
const MAX_ELEMENTS = 64
const MAX_CHAPTERS_BYTES = 1024 * 1024
const MAX_SEEK_HEAD_BYTES = 64 * 1024
const WINDOW_BYTES = 16 * 1024
const NS_PER_SECOND = 1_000_000_000

/** An element of the file. */
interface FileElement {
  id: number
  contentStart: number
  /** Infinity for an unknown size. */
  end: number
}

/** As `MediaReader.readChapters`. */
export async function readChapters(
  file: OpenFile,
  signal: AbortSignal,
): Promise<RecordedChapter[]> {
  const elements = new ElementReader(file, signal)
  const chapters = await findChapters(elements)
  const content = chapters && (await elements.content(chapters, MAX_CHAPTERS_BYTES))
  return content === undefined ? [] : parseChapters(content)
}

/** Before the first cluster, or where a SeekHead lists it. */
async function findChapters(elements: ElementReader): Promise<FileElement | undefined> {
  const header = await elements.at(0)
  const segment = header?.id === EBML_HEADER ? await elements.at(header.end) : undefined
  if (segment?.id !== SEGMENT) return undefined
  const origin = segment.contentStart
  const listed: number[] = []
  let element = await elements.at(origin)
  for (let count = 0; element !== undefined && count < MAX_ELEMENTS; count += 1) {
    if (element.id === CHAPTERS) return element
    if (element.id === CLUSTER || element.end >= segment.end) break
    if (element.id === SEEK_HEAD) listed.push(...(await listedChapters(elements, element)))
    element = await elements.at(element.end)
  }
  const [position] = listed
  const found = position === undefined ? undefined : await elements.at(origin + position)
  return found?.id === CHAPTERS ? found : undefined
}

/** Positions of Chapters in a SeekHead, from the start of the segment's content. */
async function listedChapters(elements: ElementReader, seekHead: FileElement): Promise<number[]> {
  const content = await elements.content(seekHead, MAX_SEEK_HEAD_BYTES)
  if (content === undefined) return []
  return childrenOf(content, SEEK.entry).flatMap((entry) => {
    const [id] = childrenOf(entry, SEEK.id)
    const [position] = childrenOf(entry, SEEK.position)
    const isChapters = id !== undefined && parseUnsigned(id) === CHAPTERS
    return isChapters && position !== undefined ? [parseUnsigned(position)] : []
  })
}

class ElementReader {
  readonly #window: ReadWindow
  readonly #signal: AbortSignal

  constructor(file: OpenFile, signal: AbortSignal) {
    this.#window = new ReadWindow(file, { readBytes: WINDOW_BYTES, memory: 'fresh', signal })
    this.#signal = signal
  }

  /** Undefined beyond the end of the file, and for bytes that are no element. */
  async at(position: number): Promise<FileElement | undefined> {
    this.#signal.throwIfAborted()
    const length = Math.min(MAX_HEADER_BYTES, this.#window.limit - position)
    if (!(length > 0)) return undefined
    const header = parseHeader(await this.#read(position, length), 0)
    if (header === 'short' || header === 'invalid') return undefined
    const contentStart = position + header.headerBytes
    const end = header.sizeBytes < 0 ? Infinity : contentStart + header.sizeBytes
    return { id: header.id, contentStart, end }
  }

  /** Undefined if it is larger, or not completely in the file. */
  async content(
    { contentStart, end }: FileElement,
    maxBytes: number,
  ): Promise<Uint8Array | undefined> {
    const length = end - contentStart
    if (length > maxBytes || end > this.#window.limit) return undefined
    return this.#read(contentStart, length)
  }

  async #read(position: number, length: number): Promise<Uint8Array> {
    await this.#window.need(position, length)
    return this.#window.view(position, length)
  }
}

function parseChapters(content: Uint8Array): RecordedChapter[] {
  const editions = childrenOf(content, CHAPTER.edition)
  const shown = editions.filter((edition) => !isSet(edition, CHAPTER.isHiddenEdition, 0))
  const chosen = shown.find((edition) => isSet(edition, CHAPTER.isDefaultEdition, 0)) ?? shown[0]
  if (chosen === undefined) return []
  return childrenOf(chosen, CHAPTER.atom).flatMap(parseAtom).slice(0, MAX_RECORDED_CHAPTERS)
}

function parseAtom(atom: Uint8Array): RecordedChapter[] {
  const [start] = childrenOf(atom, CHAPTER.start)
  const isShown = !isSet(atom, CHAPTER.isHidden, 0) && isSet(atom, CHAPTER.isEnabled, 1)
  if (start === undefined || !isShown) return []
  const [end] = childrenOf(atom, CHAPTER.end)
  const [display] = childrenOf(atom, CHAPTER.display)
  const [title] = display === undefined ? [] : childrenOf(display, CHAPTER.title)
  return [
    {
      startSeconds: parseUnsigned(start) / NS_PER_SECOND,
      ...(end && { endSeconds: parseUnsigned(end) / NS_PER_SECOND }),
      title: title === undefined ? '' : parseText(title.subarray(0, MAX_CHAPTER_TITLE_BYTES)),
    },
  ]
}

function isSet(content: Uint8Array, id: number, fallback: 0 | 1): boolean {
  const [flag] = childrenOf(content, id)
  return (flag === undefined ? fallback : parseUnsigned(flag)) !== 0
}

/** Contents of the children with an ID. */
function childrenOf(content: Uint8Array, wanted: number): Uint8Array[] {
  return [...parseChildren(content)]
    .filter(({ id }: Element) => id === wanted)
    .map((element) => element.content)
}
