// The object store of the tests has what the product requires of any S3-compatible store.
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPrograms } from '../../../scripts/programs.mjs'
import { createBucket, createClient } from './bucket.ts'
import type { TestBucket } from './bucket.ts'
import { startObjectStore } from './object-store.ts'
import type { StartedObjectStore } from './object-store.ts'
import { makeTempFolder } from '../temp-folder.ts'

const ODD_KEYS = ['a+b &c.ts', 'control-\u0001.ts', 'percent-%2F.ts', 'ümlaut-\u{1F600}.ts']
const PART_BYTES = 5 * 1024 * 1024

let store: StartedObjectStore
let bucket: TestBucket

describe.skipIf(findPrograms('Ceph') === undefined)('the object store', () => {
  beforeAll(async () => {
    store = await startObjectStore()
    bucket = await createBucket(store)
  })

  afterAll(async () => bucket.remove())

  const read = async (
    key: string,
    conditions: { Range?: string; IfMatch?: string | undefined } = {},
  ) => {
    const command = new GetObjectCommand({ Bucket: bucket.name, Key: key, ...conditions })
    const { Body, ...head } = await bucket.client.send(command)
    return { ...head, text: await Body?.transformToString() }
  }

  it('lists folders and objects in pages, with encoded keys', async () => {
    for (const key of ['alice/1.ts', 'alice/2.ts', 'bob/1.ts', ...ODD_KEYS])
      await bucket.put(`list/${key}`, key)
    const pages: ListObjectsV2CommandOutput[] = []
    do {
      const command = new ListObjectsV2Command({
        Bucket: bucket.name,
        Prefix: 'list/',
        Delimiter: '/',
        EncodingType: 'url',
        MaxKeys: 4,
        ContinuationToken: pages.at(-1)?.NextContinuationToken,
      })
      pages.push(await bucket.client.send(command))
    } while (pages.at(-1)?.IsTruncated)
    const keys = pages.flatMap(({ Contents = [] }) => Contents.map(({ Key }) => Key))
    const folders = pages.flatMap(({ CommonPrefixes = [] }) => CommonPrefixes)
    expect(pages).toHaveLength(2)
    expect(folders.map(({ Prefix }) => Prefix)).toEqual(['list/alice/', 'list/bob/'])
    const decode = (key = '') => decodeURIComponent(key.replaceAll('+', ' '))
    expect(keys.map(decode)).toEqual(ODD_KEYS.map((key) => `list/${key}`))
  })

  it('reads ranges of one version of an object', async () => {
    const IfMatch = await bucket.put('range.ts', 'abcdefgh')
    const Key = 'range.ts'
    expect(await bucket.client.send(new HeadObjectCommand({ Bucket: bucket.name, Key }))).toEqual(
      expect.objectContaining({ ContentLength: 8, ETag: IfMatch, LastModified: expect.any(Date) }),
    )
    expect(await read(Key, { Range: 'bytes=2-4', IfMatch })).toMatchObject({
      ContentRange: 'bytes 2-4/8',
      $metadata: { httpStatusCode: 206 },
      text: 'cde',
    })
    await expect(read(Key, { Range: 'bytes=8-' })).rejects.toMatchObject({ name: 'InvalidRange' })
    await bucket.put(Key, 'replaced')
    await expect(read(Key, { Range: 'bytes=2-4', IfMatch })).rejects.toMatchObject({
      $metadata: { httpStatusCode: 412 },
    })
    await bucket.delete(Key)
    await expect(read(Key)).rejects.toMatchObject({ name: 'NoSuchKey' })
  })

  it('assembles uploads of several parts', async () => {
    const target = { Bucket: bucket.name, Key: 'parts.ts' }
    const { UploadId } = await bucket.client.send(new CreateMultipartUploadCommand(target))
    const Parts = []
    for (const [at, Body] of [Buffer.alloc(PART_BYTES, 'a'), Buffer.from('b')].entries()) {
      const part = { ...target, UploadId, PartNumber: at + 1 }
      const { ETag } = await bucket.client.send(new UploadPartCommand({ ...part, Body }))
      Parts.push({ PartNumber: at + 1, ETag })
    }
    const upload = { ...target, UploadId, MultipartUpload: { Parts } }
    await bucket.client.send(new CompleteMultipartUploadCommand(upload))
    const { ETag } = await bucket.client.send(new HeadObjectCommand(target))
    expect(ETag).toMatch(/-2"$/)
    const Range = `bytes=${PART_BYTES - 1}-`
    expect(await read(target.Key, { Range, IfMatch: ETag })).toMatchObject({ text: 'ab' })
  })

  it('refuses wrong keys and buckets', async () => {
    const attempt = (other: Partial<StartedObjectStore>) =>
      createClient({ ...store, ...other }).send(new ListBucketsCommand())
    await expect(attempt({ secretAccessKey: 'x' })).rejects.toMatchObject({
      name: 'SignatureDoesNotMatch',
    })
    await expect(attempt({ accessKeyId: 'x' })).rejects.toMatchObject({
      name: 'InvalidAccessKeyId',
    })
    const missing = new ListObjectsV2Command({ Bucket: 'missing' })
    await expect(bucket.client.send(missing)).rejects.toMatchObject({ name: 'NoSuchBucket' })
  })

  it('takes folder trees', async () => {
    const folder = makeTempFolder('tree')
    mkdirSync(path.join(folder, 'alice'))
    writeFileSync(path.join(folder, 'alice', '1.ts'), 'one')
    writeFileSync(path.join(folder, 'empty.ts'), '')
    const other = await createBucket(store)
    await other.putTree(folder, 'library/')
    rmSync(folder, { recursive: true })
    expect(await other.keys()).toEqual(['library/alice/1.ts', 'library/empty.ts'])
    await other.remove()
  })
})
