// What the program needs of the place where recordings lie: list, stat, read a range, watch. Nothing writes.

/** One file or folder inside a folder. Symbolic links are already followed, or left out. */
export interface StorageEntry {
  /** Last part of the path, as the storage spells it (not normalised). */
  name: string
  kind: 'file' | 'folder'
  /** Of a file, where `list` was asked for it. */
  stat?: FileStat
}

/** What a listing is to hold beside names and kinds. */
export interface ListOptions {
  /** Stats of files come with the listing, which is far cheaper than asking for each. */
  stats?: boolean
}

/** Size and time of a file, by which a change is seen. */
export interface FileStat {
  sizeBytes: number
  /** Modification time in whole milliseconds since 1970. */
  modifiedMs: number
}

/**
 * An open file. Reading never goes beyond the file: short reads tell the end.
 * The stat was taken when the file was opened.
 */
export interface OpenFile {
  readonly stat: FileStat
  /** Reads up to `buffer.length` bytes from `position`; answers the number of bytes read, 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** Reads consecutive bytes from `position` into the buffers in turn; answers the number of bytes read. */
  readv(buffers: readonly Uint8Array[], position: number): Promise<number>
  /**
   * As `readv`, but at once and without waiting for a disk: 0 where that cannot be, fewer bytes where only those are at
   * hand. The others tell what there is to tell then. Absent where the storage cannot know.
   */
  readCached?(buffers: readonly Uint8Array[], position: number): number
  /**
   * Sends up to `length` bytes from `position` to a socket (its descriptor), at once, without a copy of ours; nothing else
   * may be waiting to be sent there. Answers how many it has taken; undefined where they have to be read. Absent where
   * the storage cannot know.
   */
  sendCached?(position: number, length: number, socket: number): number | undefined
  /** Tells that bytes will be read soon, so that they may come from the disk meanwhile. Absent where nobody can be told. */
  willRead?(position: number, length: number): void
  /** Rejects with `failed` where the file was written to since it was opened. */
  checkUnchanged(): Promise<void>
  close(): Promise<void>
}

/** Paths are relative to the library, parts joined by `/`, spelled as the storage spells them; '' is the root. */
export interface Storage {
  /** Entries of a folder, unsorted. Hidden files, what leaves the library, and what is no file or folder are left out. */
  list(folder: string, options?: ListOptions): Promise<StorageEntry[]>
  /** Throws AppError `not_found` where there is no such file inside the library. */
  stat(path: string): Promise<FileStat>
  /** Throws AppError `not_found` where there is no such file inside the library. */
  open(path: string): Promise<OpenFile>
  /**
   * Calls `onChange` with the folder ('' = anywhere) in which something changed, until the signal aborts. What
   * vanished is named itself, be it file or folder. The first call is '' and says that watching has begun.
   * A lost event is repaired by the scanner's periodic rescan. Rejects where watching is not possible or ends.
   */
  watch(onChange: (folder: string) => void, signal: AbortSignal): Promise<void>
}
