// The scripts and styles of the page, of this release and of earlier ones, in one folder.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, reasonOf } from '../../base/errors.ts'
import { writeAtomically } from '../../storage/recordings/atomic-write.ts'

/** A built file, or its compressed copy. Its name has a hash of the content. */
export interface Asset {
  name: string
  bytes: Uint8Array
}

/** What one build of the page consists of. */
export interface Release {
  /** Equal for equal builds. */
  id: string
  assets: readonly Asset[]
}

/** About twenty releases. */
const MAX_BYTES = 32 * 1024 * 1024
const NAME = /^\w[\w.-]{0,199}$/

/** Reads a build. @throws errors of the file system */
export async function readRelease(folder: string): Promise<Release> {
  const names = (await readdir(folder)).toSorted()
  const assets = await Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })),
  )
  const id = createHash('sha256').update(JSON.stringify(names)).digest('hex')
  return { id, assets }
}

export class AssetFolder {
  readonly path: string
  readonly #maxBytes: number

  constructor(path: string, maxBytes = MAX_BYTES) {
    this.path = path
    this.#maxBytes = maxBytes
  }

  /**
   * Adds the files of a release, and removes the oldest files beyond the limit.
   *
   * @throws AppError `failed` if the folder cannot be written, or a name is not one of a file
   */
  async add(assets: readonly Asset[]): Promise<void> {
    const bad = assets.find(({ name }) => !NAME.test(name))
    if (bad) throw new AppError('failed', `a file of the page has an unusable name: ${bad.name}`)
    try {
      await mkdir(this.path, { recursive: true })
      for (const { name, bytes } of assets) await this.#write(join(this.path, name), bytes)
      await this.#trim(new Set(assets.map(({ name }) => name)))
    } catch (cause) {
      throw new AppError('failed', `data: ${this.path}: ${reasonOf(cause)}`, { cause })
    }
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const nowSeconds = Date.now() / 1000
    const existing = await readFile(path).catch(() => undefined)
    if (existing === undefined || !existing.equals(bytes)) await writeAtomically(path, bytes)
    else await utimes(path, nowSeconds, nowSeconds)
  }

  async #trim(added: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.path)
    const found = await Promise.all(names.map(async (name) => this.#describe(name)))
    const files = found.flatMap((file) => file ?? [])
    let bytes = files.reduce((sum, { size }) => sum + size, 0)
    const removable = files.filter(({ name }) => !added.has(name))
    for (const { name, size } of removable.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= this.#maxBytes) return
      bytes -= size
      await rm(join(this.path, name), { force: true })
    }
  }

  /** Undefined for a file that a concurrent write has renamed, or a trim removed. */
  async #describe(
    name: string,
  ): Promise<{ name: string; size: number; mtimeMs: number } | undefined> {
    try {
      const { size, mtimeMs } = await stat(join(this.path, name))
      return { name, size, mtimeMs }
    } catch {
      return undefined
    }
  }
}
