// The recordings that all nodes share: files that recorders write, and a mount of each node.
import { AppError } from '../../server/base/errors.ts'
import type {
  FileStat,
  LibraryStorage,
  ListOptions,
  OpenFile,
  StorageEntry,
} from '../../server/storage/recordings/storage.ts'
import type { Actor } from './actor.ts'
import { makeRecording } from './gops.ts'
import type { World } from './world.ts'

/** `empty`: unmounted; `hanging`: nothing ends. */
export type MountState = 'good' | 'empty' | 'hanging'

interface RecordingFile {
  /** See `makeRecording`. */
  numbers: readonly number[]
  bytes: Buffer
  stat: FileStat
}

/** Operations of the mount take about this long. */
const MAX_DELAY_MS = 3
/** Until a change is reported. */
const MAX_NOTICE_MS = 20

/** An operation of a process that waits for the mount. */
interface Held {
  actor: Actor
  run: () => void
}

interface Watch {
  actor: Actor
  onChange: (folder: string) => void
  end: (error: unknown) => void
}

export class Recordings {
  readonly #world: World
  readonly #files = new Map<string, RecordingFile>()
  readonly #mounts = new Set<Mount>()
  #versions = 0

  constructor(world: World) {
    this.#world = world
  }

  get paths(): string[] {
    return [...this.#files.keys()].toSorted()
  }

  find(path: string): RecordingFile | undefined {
    return this.#files.get(path)
  }

  /** Creates, replaces or extends a file. */
  write(path: string, numbers: readonly number[]): void {
    this.#versions += 1
    const bytes = makeRecording(numbers)
    const modifiedMs = this.#world.wallMs(this.#world.outside)
    const stat = { sizeBytes: bytes.length, modifiedMs, version: `v${this.#versions}` }
    this.#files.set(path, { numbers, bytes, stat })
    this.#report(folderOf(path))
  }

  remove(path: string): void {
    if (this.#files.delete(path)) this.#report(path)
  }

  mount(): Mount {
    const mount = new Mount(this.#world, this)
    this.#mounts.add(mount)
    return mount
  }

  unmount(mount: Mount): void {
    this.#mounts.delete(mount)
  }

  #report(path: string): void {
    for (const mount of this.#mounts) mount.report(path)
  }
}

/** The storage of one node. */
export class Mount implements LibraryStorage {
  readonly #world: World
  readonly #recordings: Recordings
  readonly #watches = new Set<Watch>()
  #state: MountState = 'good'
  #held: Held[] = []
  /** Processes that know the mount by its content. */
  readonly #knownBy = new WeakSet<Actor>()
  openFiles = 0

  constructor(world: World, recordings: Recordings) {
    this.#world = world
    this.#recordings = recordings
  }

  get state(): MountState {
    return this.#state
  }

  change(state: MountState): void {
    if (state === this.#state) return
    this.#state = state
    // A watch of a folder that is mounted over sees nothing more of it.
    for (const { end } of this.#watches) end(new AppError('failed', 'the mount has changed'))
    this.#watches.clear()
    if (state === 'hanging') return
    const held = this.#held
    this.#held = []
    for (const { actor, run } of held) {
      this.#world.afterAs(actor, 0, { label: 'mount continues', run })
    }
  }

  report(path: string): void {
    if (this.#state !== 'good') return
    for (const { actor, onChange } of this.#watches) {
      const run = (): void => onChange(path)
      const delayMs = this.#world.draws.unit() * MAX_NOTICE_MS
      this.#world.afterAs(actor, delayMs, { label: `changed ${path}`, run })
    }
  }

  async list(folder: string, { stats = false }: ListOptions = {}): Promise<StorageEntry[]> {
    await this.#turn(`list ${folder}`)
    const below = folder === '' ? '' : `${folder}/`
    const entries = new Map<string, StorageEntry>()
    for (const path of this.#paths()) {
      if (!path.startsWith(below)) continue
      const [name = '', ...rest] = path.slice(below.length).split('/')
      const stat = this.#recordings.find(path)?.stat
      if (rest.length > 0) entries.set(name, { name, kind: 'folder' })
      else entries.set(name, { name, kind: 'file', ...(stats && stat && { stat }) })
    }
    if (folder === '') this.#checkMounted()
    else if (entries.size === 0) throw missing(folder)
    return [...entries.values()]
  }

  async hasContent(): Promise<boolean> {
    await this.#turn('probe')
    this.#checkMounted()
    return this.#paths().length > 0
  }

  async stat(path: string): Promise<FileStat> {
    await this.#turn(`stat ${path}`)
    return this.#find(path).stat
  }

  async open(path: string): Promise<OpenFile> {
    await this.#turn(`open ${path}`)
    const { bytes, stat } = this.#find(path)
    const read = (buffer: Uint8Array, position: number): number => {
      const part = bytes.subarray(position, position + buffer.length)
      buffer.set(part)
      return part.length
    }
    this.openFiles += 1
    return {
      stat,
      read: async (buffer, position) => {
        await this.#turn(`read ${path}`)
        return read(buffer, position)
      },
      readv: async (buffers, position) => {
        await this.#turn(`read ${path}`)
        let at = position
        for (const buffer of buffers) at += read(buffer, at)
        return at - position
      },
      checkUnchanged: async () => {
        const now = this.#recordings.find(path)?.stat
        if (now === undefined || now.version === stat.version) return
        throw new AppError('failed', 'the recording was written to')
      },
      close: async () => {
        this.openFiles -= 1
      },
    }
  }

  async watch(onChange: (folder: string) => void, signal: AbortSignal): Promise<void> {
    await this.#turn('watch')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const watch = { actor: this.#world.current(), onChange, end: reject }
    this.#watches.add(watch)
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
    onChange('')
    await promise.finally(() => this.#watches.delete(watch))
  }

  /** The folder of a mount is another one than the root of its content. */
  #checkMounted(): void {
    const actor = this.#world.current()
    if (this.#paths().length > 0) this.#knownBy.add(actor)
    else if (this.#state !== 'good' && this.#knownBy.has(actor)) {
      throw new AppError('failed', 'the recordings are not mounted')
    }
  }

  #paths(): string[] {
    return this.#state === 'good' ? this.#recordings.paths : []
  }

  #find(path: string): RecordingFile {
    const file = this.#state === 'good' ? this.#recordings.find(path) : undefined
    if (file === undefined) throw missing(path)
    return file
  }

  async #turn(label: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const arrive = (): void => {
      const actor = this.#world.current()
      if (this.#state === 'hanging') this.#held.push({ actor, run: resolve })
      else resolve()
    }
    this.#world.after(this.#world.draws.unit() * MAX_DELAY_MS, label, arrive)
    return promise
  }
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function missing(path: string): AppError {
  return new AppError('not_found', `no such file: ${path}`)
}
