// A bucket of an object store, for one test file.
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  S3Client,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3'
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { ObjectStore } from './object-store.ts'

export interface TestBucket {
  name: string
  client: S3Client
  /** Writes or replaces an object. Returns its ETag. */
  put(key: string, body: string | Uint8Array): Promise<string | undefined>
  /** Writes all files of a folder tree, below a prefix that ends with `/` or is empty. */
  putTree(folder: string, prefix?: string): Promise<void>
  delete(key: string): Promise<void>
  /** All keys, in the order of the store. */
  keys(): Promise<string[]>
  /** Deletes all objects and the bucket, and closes the client. */
  remove(): Promise<void>
}

/** A client with path-style requests, without checksums that not every store accepts. */
export function createClient(store: ObjectStore, options: { maxAttempts?: number } = {}): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey } = store
  return new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...options,
  })
}

/** Creates a bucket with a new name. */
export async function createBucket(store: ObjectStore): Promise<TestBucket> {
  const client = createClient(store)
  const name = `test-${randomUUID()}`
  const Bucket = name
  await client.send(new CreateBucketCommand({ Bucket }))
  const keys = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket }))
      found.push(...Contents.flatMap(({ Key }) => Key ?? []))
    return found
  }
  const putFile = async (Key: string, file: string): Promise<void> => {
    const { size: ContentLength } = await stat(file)
    const Body = createReadStream(file)
    await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength }))
  }
  const deleteOne = async (Key: string): Promise<void> => {
    await client.send(new DeleteObjectCommand({ Bucket, Key }))
  }
  return {
    name,
    client,
    keys,
    async put(Key, Body) {
      return (await client.send(new PutObjectCommand({ Bucket, Key, Body }))).ETag
    },
    async putTree(folder, prefix = '') {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      for (const entry of entries.filter((found) => found.isFile())) {
        const file = path.join(entry.parentPath, entry.name)
        const key = path.relative(folder, file).split(path.sep).join('/')
        await putFile(prefix + key, file)
      }
    },
    delete: deleteOne,
    async remove() {
      for (const key of await keys()) await deleteOne(key)
      await client.send(new DeleteBucketCommand({ Bucket }))
      client.destroy()
    },
  }
}
