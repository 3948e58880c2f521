// Where recordings are. A plain value: threads and processes open the same storage from it.
import { basename } from 'node:path'
import { isS3Url, parseS3Url } from '../config/s3-url.ts'
import { AppError } from '../errors.ts'

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
export function parseLocation(recordings: string, pathStyle: boolean): StorageLocation {
  if (!isS3Url(recordings)) return { kind: 'folder', path: recordings }
  const url = parseS3Url(recordings)
  if (url === undefined) throw new AppError('usage', 'recordings: must be s3://bucket/prefix')
  return { kind: 's3', ...url, pathStyle }
}

/** Name of the folder, of the last folder of the prefix, or of the bucket. */
export function locationName(location: StorageLocation): string {
  if (location.kind === 'folder') return basename(location.path)
  return location.prefix === '' ? location.bucket : basename(location.prefix)
}
