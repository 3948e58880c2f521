// What an S3 request is for: operation, bucket, key, and the conditions of a read.
import type { IncomingMessage } from 'node:http'

/** A request with the bucket in its path. */
export interface S3Request {
  /** Name in the API of S3, such as `GetObject`; the method if it is not in the table. */
  operation: string
  /** '' in a request to the service. */
  bucket: string
  /** Decoded; '' in a request to a bucket. */
  key: string
  range: string | undefined
  ifMatch: string | undefined
  /** With the signature. */
  authorization: string | undefined
}

/** By method, target and the parameter that makes it another operation. */
const OPERATIONS: Record<string, string> = {
  'GET bucket list-type': 'ListObjectsV2',
  'HEAD bucket': 'HeadBucket',
  'PUT bucket': 'CreateBucket',
  'DELETE bucket': 'DeleteBucket',
  'GET object': 'GetObject',
  'HEAD object': 'HeadObject',
  'PUT object': 'PutObject',
  'DELETE object': 'DeleteObject',
  'POST object uploads': 'CreateMultipartUpload',
  'PUT object uploadId': 'UploadPart',
  'POST object uploadId': 'CompleteMultipartUpload',
}
const PARAMETERS = ['list-type', 'uploads', 'uploadId', 'location']

/** Parses the path, the query and the headers. */
export function parseS3Request({ method = '', url = '', headers }: IncomingMessage): S3Request {
  // Not parsed as a URL, which would resolve `..` in keys.
  const [target = '', query] = url.split('?', 2)
  const [, bucket = '', ...parts] = target.split('/').map(decodeURIComponent)
  const key = parts.join('/')
  const parameters = new URLSearchParams(query)
  const kind = PARAMETERS.filter((name) => parameters.has(name))
  const signature = [method, key === '' ? 'bucket' : 'object', ...kind].join(' ')
  return {
    operation: OPERATIONS[signature] ?? method,
    bucket,
    key,
    range: headers.range,
    ifMatch: headers['if-match'],
    authorization: headers.authorization,
  }
}
