// Where recordings or artifacts are. A plain value: threads and processes open the same storage
// from it.
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isS3Url, parseS3Url } from '../../base/config/s3-url.ts'
import { AppError } from '../../base/errors.ts'
import { isInside } from './folder/storage-path.ts'

export type StorageLocation = FolderLocation | S3Location

export interface FolderLocation {
  kind: 'folder'
  /** Absolute, or relative to the working directory. */
  path: string
}

/** Objects of a bucket whose keys start with `prefix`: '' or names that each end with '/'. */
export interface S3Location {
  kind: 's3'
  bucket: string
  prefix: string
  /** Path-style addresses, for stores without a host name per bucket. */
  pathStyle: boolean
}

/**
 * The location of a configured folder or `s3://bucket/prefix`.
 *
 * @throws AppError `usage` for an invalid URL
 */
export function parseLocation(location: string, pathStyle: boolean): StorageLocation {
  if (!isS3Url(location)) return { kind: 'folder', path: location }
  const url = parseS3Url(location)
  if (url === undefined) throw new AppError('usage', `${location}: must be s3://bucket/prefix`)
  return { kind: 's3', ...url, pathStyle }
}

/** Name of the folder, of the last folder of the prefix, or of the bucket. */
export function locationName(location: StorageLocation): string {
  if (location.kind === 'folder') return basename(location.path)
  return location.prefix === '' ? location.bucket : basename(location.prefix)
}

/** As in the configuration. */
export function formatLocation(location: StorageLocation): string {
  if (location.kind === 'folder') return resolve(location.path)
  return `s3://${location.bucket}/${location.prefix}`
}

/** Whether all of `inner`, which may not exist yet, is also in `outer`. Links are followed. */
export async function containsLocation(
  outer: StorageLocation,
  inner: StorageLocation,
): Promise<boolean> {
  if (outer.kind === 's3' && inner.kind === 's3') {
    return outer.bucket === inner.bucket && inner.prefix.startsWith(outer.prefix)
  }
  if (outer.kind === 's3' || inner.kind === 's3') return false
  return isInside(await realPathOf(resolve(outer.path)), await realPathOf(resolve(inner.path)))
}

/** Of a path whose last names may not exist yet. */
async function realPathOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined)
  if (real !== undefined || dirname(path) === path) return real ?? path
  return join(await realPathOf(dirname(path)), basename(path))
}
