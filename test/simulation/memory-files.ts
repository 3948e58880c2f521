// The files of data folders and of the shared folder, in memory: what was not synced may be lost
// when the power fails. Each operation is an event of its own.
import type { World } from './world.ts'

/** Files below it are in the memory of the simulation. */
export const ROOT = '/simulated'

interface Inode {
  number: number
  bytes: Buffer
  /** What the disk has. */
  synced: Buffer
  changedMs: number
}

/** Operations of a disk take about this long. */
const MAX_DELAY_MS = 0.4

export class MemoryFiles {
  readonly #world: World
  readonly #files = new Map<string, Inode>()
  #inodes = 0

  constructor(world: World) {
    this.#world = world
  }

  /** The power of a machine fails: what is below the folder is as on the disk. */
  losePower(folder: string): void {
    for (const [path, inode] of this.#files) {
      if (!path.startsWith(`${folder}/`) || inode.bytes.equals(inode.synced)) continue
      // The name is in the journal of the file system, the bytes are not.
      if (this.#world.draws.chance(0.7)) inode.bytes = inode.synced
      else inode.synced = inode.bytes
    }
  }

  /** Removes everything below a folder. */
  clear(folder: string): void {
    for (const path of this.#files.keys()) {
      if (path.startsWith(`${folder}/`)) this.#files.delete(path)
    }
  }

  async readFile(path: string, encoding?: unknown): Promise<Buffer | string> {
    await this.#turn(`read ${path}`)
    const bytes = Buffer.from(this.#inode(path).bytes)
    const name = typeof encoding === 'string' ? encoding : undefined
    return name === undefined ? bytes : bytes.toString(name === 'latin1' ? 'latin1' : 'utf8')
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    await this.#turn(`write ${path}`)
    this.#write(this.#files.get(path) ?? this.#create(path), content)
  }

  async stat(path: string, options?: { bigint?: boolean }) {
    await this.#turn(`stat ${path}`)
    return this.#stat(path, options)
  }

  async mkdir(): Promise<undefined> {
    // Folders exist by their files.
    return undefined
  }

  async readdir(folder: string): Promise<string[]> {
    await this.#turn(`list ${folder}`)
    const names = [...this.#files.keys()].flatMap((path) => {
      const [name] = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/') : []
      return name === undefined ? [] : [name]
    })
    return [...new Set(names)].toSorted()
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#turn(`rename ${to}`)
    const inode = this.#inode(from)
    this.#files.delete(from)
    this.#files.set(to, inode)
  }

  async link(from: string, to: string): Promise<void> {
    await this.#turn(`link ${to}`)
    const inode = this.#inode(from)
    if (this.#files.has(to)) throw fileError('EEXIST', to)
    this.#files.set(to, inode)
  }

  async rm(path: string, options: { force?: boolean } = {}): Promise<void> {
    await this.#turn(`remove ${path}`)
    if (!this.#files.delete(path) && options.force !== true) throw fileError('ENOENT', path)
  }

  async unlink(path: string): Promise<void> {
    return this.rm(path)
  }

  async open(path: string, flags = 'r') {
    await this.#turn(`open ${path}`)
    if (flags.includes('x') && this.#files.has(path)) throw fileError('EEXIST', path)
    const inode = flags.startsWith('r') ? this.#openInode(path) : this.#create(path)
    const turn = async (name: string): Promise<void> => this.#turn(`${name} ${path}`)
    return {
      readFile: async () => turn('read').then(() => Buffer.from(inode.bytes)),
      stat: async () => turn('stat').then(() => statOf(inode)),
      writeFile: async (content: string | Uint8Array) =>
        turn('write').then(() => this.#write(inode, content)),
      sync: async () => turn('sync').then(() => void (inode.synced = inode.bytes)),
      datasync: async () => turn('sync').then(() => void (inode.synced = inode.bytes)),
      close: async () => turn('close'),
    }
  }

  async #turn(label: string): Promise<void> {
    return new Promise((resolve) => {
      this.#world.after(this.#world.draws.unit() * MAX_DELAY_MS, label, resolve)
    })
  }

  /** A folder can be opened to sync the names in it, which are never lost here. */
  #openInode(path: string): Inode {
    const folder = { number: 0, bytes: Buffer.alloc(0), synced: Buffer.alloc(0), changedMs: 0 }
    return !this.#files.has(path) && this.#isFolder(path) ? folder : this.#inode(path)
  }

  #isFolder(path: string): boolean {
    return [...this.#files.keys()].some((other) => other.startsWith(`${path}/`))
  }

  #inode(path: string): Inode {
    const inode = this.#files.get(path)
    if (inode === undefined) throw fileError('ENOENT', path)
    return inode
  }

  #create(path: string): Inode {
    this.#inodes += 1
    const empty = Buffer.alloc(0)
    const inode = { number: this.#inodes, bytes: empty, synced: empty, changedMs: 0 }
    this.#files.set(path, inode)
    return inode
  }

  #write(inode: Inode, content: string | Uint8Array): void {
    inode.bytes = Buffer.from(content)
    inode.changedMs = this.#world.nowMs
  }

  #stat(path: string, options: { bigint?: boolean } = {}) {
    const inode = this.#files.get(path)
    if (inode === undefined && !this.#isFolder(path) && path.split('/').length > 3) {
      throw fileError('ENOENT', path)
    }
    const { number, size, mtimeMs } = statOf(inode)
    if (options.bigint !== true) return statOf(inode)
    const ns = BigInt(Math.round(mtimeMs * 1e6))
    return { ino: BigInt(number), size: BigInt(size), mtimeNs: ns, ctimeNs: ns }
  }
}

function statOf(inode: Inode | undefined) {
  const { number = 0, changedMs = 0, bytes } = inode ?? {}
  return {
    number,
    ino: number,
    size: bytes?.length ?? 0,
    mtimeMs: changedMs,
    isFile: () => inode !== undefined,
    isDirectory: () => inode === undefined,
  }
}

function fileError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}
