// Parses `s3://bucket/prefix`.

/** A bucket, and the common start of the keys: '' or names that each end with '/'. */
export interface S3Url {
  bucket: string
  prefix: string
}

/** Old buckets may have capital letters, underscores and up to 255 characters. */
const BUCKET = /^[a-z0-9][a-z0-9._-]{2,254}$/i
const MAX_KEY_BYTES = 1024
const SCHEME = 's3://'

export function isS3Url(value: string): boolean {
  return value.toLowerCase().startsWith(SCHEME)
}

/** Undefined if the bucket or the prefix is invalid. The prefix is not percent-decoded. */
export function parseS3Url(value: string): S3Url | undefined {
  if (!isS3Url(value)) return undefined
  const [bucket = '', ...names] = value.slice(SCHEME.length).split('/')
  const prefix = names
    .filter((name) => name !== '')
    .map((name) => `${name}/`)
    .join('')
  if (!BUCKET.test(bucket) || prefix.includes('\0') || prefix.includes('?')) return undefined
  return Buffer.byteLength(prefix) < MAX_KEY_BYTES ? { bucket, prefix } : undefined
}
