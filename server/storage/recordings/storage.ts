// The storage interface: list, stat, read a range, watch. Read-only.

/** A file or folder. Symbolic links are already resolved or ignored. */
export interface StorageEntry {
  /** Last component of the path, as spelled in storage (not normalised). */
  name: string
  kind: 'file' | 'folder'
  /** Stat of a file, if requested from `list`. */
  stat?: FileStat
}

/** What a listing contains besides names and kinds. */
export interface ListOptions {
  /** Include stats of files, which is far cheaper than a stat for each. */
  stats?: boolean
  /** Files of these names may be without a stat, which then costs nothing. */
  isKnown?: (name: string) => boolean
  signal?: AbortSignal | undefined
}

/** How a file is found. */
export interface OpenOptions {
  /**
   * From a listing of the same storage, which opens this version with less work. Where versions are
   * not pinned, the file may have changed since: compare its stat.
   */
  listed?: FileStat
  signal?: AbortSignal | undefined
}

/** Size, time and version of a file. */
export interface FileStat {
  sizeBytes: number
  /** Modification time in whole milliseconds since 1970. */
  modifiedMs: number
  /**
   * Opaque; another one whenever the file may have other bytes. In a folder it covers size, mtime,
   * ctime and inode. It also changes without a reason in the bytes (rename, chmod, hard link).
   */
  version: string
  /** The file is complete, and files of this version at its path have equal bytes. */
  isImmutable?: boolean
}

/**
 * An open file. A short read means the end of the file. The stat is from the time of opening.
 */
export interface OpenFile {
  readonly stat: FileStat
  /**
   * Reads up to `buffer.length` bytes from `position`; returns the number of bytes read, 0 at the
   * end.
   */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** Reads consecutive bytes from `position` into the buffers; returns the number of bytes read. */
  readv(buffers: readonly Uint8Array[], position: number): Promise<number>
  /**
   * Like `readv`, but synchronous and non-blocking: returns 0, or fewer bytes, if the rest is not
   * in memory. Errors are left to the other reads. Absent if the storage has no such cache.
   */
  readCached?(buffers: readonly Uint8Array[], position: number): number
  /**
   * Sends up to `length` bytes from `position` to a socket (by descriptor), synchronously and
   * without a copy; the socket's own write queue must be empty. Returns how many it accepted;
   * undefined if they must be read instead. Absent if the storage has no such cache.
   */
  sendCached?(position: number, length: number, socket: number): number | undefined
  /**
   * Hints that bytes will be read soon, so that they can be prefetched. Absent if not supported.
   */
  willRead?(position: number, length: number): void
  /**
   * Announces that nearly all of these bytes will be read, in order, so that storage with a high
   * latency can request them at once. Replaces an earlier announcement. Absent if not supported.
   */
  willReadInOrder?(position: number, length: number): void
  /** Rejects with `failed` if the file was written to since it was opened. */
  checkUnchanged(): Promise<void>
  close(): Promise<void>
}

/**
 * Paths are relative to the library, components joined by `/`, spelled as in storage; '' is the
 * root.
 */
export interface Storage {
  /**
   * Entries of a folder, unsorted. Ignores hidden files, links that leave the library, and special
   * files.
   */
  list(folder: string, options?: ListOptions): Promise<StorageEntry[]>
  /** @throws AppError `not_found` if there is no such file inside the library */
  stat(path: string, options?: OpenOptions): Promise<FileStat>
  /** @throws AppError `not_found` if there is no such file inside the library */
  open(path: string, options?: OpenOptions): Promise<OpenFile>
  /**
   * Calls `onChange` with the folder ('' = anywhere) in which something changed, until the signal
   * aborts. A deleted file or folder is reported by its own path. The first call is '' and means
   * that watching has started. Lost events are repaired by the scanner's periodic rescan. Rejects
   * if watching is not possible or ends.
   */
  watch(onChange: (folder: string) => void, signal: AbortSignal): Promise<void>
}

/** The storage of a library. */
export interface LibraryStorage extends Storage {
  /** Files that are open. */
  readonly openFiles: number
  /**
   * Whether anything is in the library; reads as little as possible.
   *
   * @throws AppError `failed` or `busy` if it cannot be read
   */
  hasContent(signal?: AbortSignal): Promise<boolean>
}
