// The copy of a catalog that is made before it is migrated: with it, the release before can start.
import type { Database as SqliteDatabase } from 'better-sqlite3'
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError, unusableData } from '../../../base/errors.ts'
import { TEMPORARY_SUFFIX } from '../../../storage/recordings/atomic-write.ts'
import { nextStepOf } from './migrations.ts'

/** Copies that stay in the data folder, with the new one. */
const KEPT_COPIES = 2
/** The copy, and the pages that the migration writes: at most all of them. */
const NEEDED_SIZES = 2
const MIB = 1024 * 1024

export interface CopyOptions {
  /** Called with the path of a copy, before anything is migrated. */
  onCopied?: ((path: string) => void) | undefined
  /** Bytes that a folder has room for. Default what its file system reports. */
  freeBytesOf?: ((folder: string) => number) | undefined
}

/**
 * Copies the catalog to a file beside it, `catalog.sqlite.before-STEP`, if steps are missing. The
 * copy is complete and on the disk when this returns.
 *
 * @throws AppError `failed` if there is no room for it, or it cannot be written
 */
export function copyBeforeMigration(sqlite: SqliteDatabase, options: CopyOptions): void {
  const step = nextStepOf(sqlite)
  if (step === undefined) return
  requireSpace(sqlite, options)
  const copy = `${sqlite.name}.before-${step}`
  const incomplete = `${copy}${TEMPORARY_SUFFIX}`
  try {
    rmSync(incomplete, { force: true })
    sqlite.prepare('VACUUM INTO ?').run(incomplete)
    sync(incomplete)
    renameSync(incomplete, copy)
    syncFolder(dirname(copy))
    removeOldCopies(sqlite.name, step)
  } catch (cause) {
    rmSync(incomplete, { force: true })
    throw unusableData(`${copy} cannot be written, so nothing is migrated`, cause)
  }
  options.onCopied?.(copy)
}

function requireSpace(sqlite: SqliteDatabase, { freeBytesOf = readFreeBytes }: CopyOptions): void {
  const folder = dirname(sqlite.name)
  const [pages, pageBytes] = ['page_count', 'page_size'].map((name) =>
    Number(sqlite.pragma(name, { simple: true })),
  )
  const neededBytes = NEEDED_SIZES * (pages ?? 0) * (pageBytes ?? 0)
  const freeBytes = freeBytesOf(folder)
  if (freeBytes >= neededBytes) return
  const [needed, free] = [Math.ceil(neededBytes / MIB), Math.floor(freeBytes / MIB)]
  throw new AppError(
    'failed',
    `data: to migrate the catalog, ${needed} MiB must be free in ${folder}, and ${free} MiB are: ` +
      'free some space there; nothing has changed',
  )
}

/** Some network file systems report no size at all. */
function readFreeBytes(folder: string): number {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return blocks === 0 ? Infinity : bavail * bsize
}

function removeOldCopies(path: string, newStep: number): void {
  const prefix = `${basename(path)}.before-`
  const steps = readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)))
    .filter((step) => Number.isInteger(step) && step !== newStep)
    .toSorted((one, other) => other - one)
  for (const step of steps.slice(KEPT_COPIES - 1)) rmSync(join(dirname(path), `${prefix}${step}`))
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function syncFolder(path: string): void {
  try {
    sync(path)
  } catch {
    // Some file systems cannot write a folder by itself.
  }
}
