// A store that lists wrongly or does not respond, and credentials that do not arrive.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { soon } from '../../../../test/support/patience.ts'
import { Bucket } from './bucket.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'

type Respond = (token: string, response: ServerResponse) => void

let server: Server
let requests: string[]
let respond: Respond
let folder: string

beforeEach(async () => {
  folder = makeTempFolder('bucket')
  requests = []
  server = createServer(({ url = '' }, response) => {
    const token = new URL(url, 'http://store').searchParams.get('continuation-token') ?? ''
    requests.push(token)
    respond(token, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const environment = {
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_CONFIG_FILE: path.join(folder, 'config'),
    AWS_SHARED_CREDENTIALS_FILE: path.join(folder, 'credentials'),
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
})

afterEach(async () => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** A page with one key, the token of the request, and what follows. */
function pageOf(token: string, more: string): string {
  const stat = '<Size>1</Size><ETag>"x"</ETag><LastModified>2026-01-31T00:00:00Z</LastModified>'
  const contents = `<Contents><Key>${token || 'first'}</Key>${stat}</Contents>`
  return `<?xml version="1.0"?><ListBucketResult>${contents}${more}</ListBucketResult>`
}

const nextPage = (token: string): string =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`

async function openBucket(): Promise<Bucket> {
  return Bucket.open({ kind: 's3', bucket: 'lib', prefix: '', pathStyle: true })
}

/** Keys of a listing, up to its error. */
async function listKeys(from?: string): Promise<{ keys: string[]; error?: unknown }> {
  const bucket = await openBucket()
  const keys: string[] = []
  try {
    for await (const page of bucket.list({ prefix: '', from })) {
      keys.push(...page.objects.map(({ key }) => key))
    }
    return { keys }
  } catch (error) {
    return { keys, error }
  } finally {
    bucket.close()
  }
}

test('continues a listing at a token', async () => {
  respond = (token, response) => response.end(pageOf(token, token === 'a' ? nextPage('b') : ''))
  expect(await listKeys('a')).toEqual({ keys: ['a', 'b'] })
})

test('is not complete after a truncated page without a token', async () => {
  respond = (token, response) =>
    response.end(pageOf(token, token === '' ? nextPage('a') : '<IsTruncated>true</IsTruncated>'))
  expect(await listKeys()).toEqual({
    keys: ['first'],
    error: expect.objectContaining({ code: 'failed' }),
  })
})

test.each([
  ['one page', { '': 'a', a: 'a' }],
  ['some pages', { '': 'a', a: 'b', b: 'c', c: 'd', d: 'b' }],
])('ends a listing that returns %s again and again', async (_name, tokens: object) => {
  const next = new Map<string, string>(Object.entries(tokens))
  respond = (token, response) => response.end(pageOf(token, nextPage(next.get(token) ?? '')))
  const { error } = await listKeys()
  expect(error).toMatchObject({ code: 'failed', message: expect.stringContaining('again') })
  expect(requests.length).toBeLessThan(12)
})

test('ends a call whose response does not end', async () => {
  respond = (_token, response) => response.setHeader('content-length', 10).write('start')
  const bucket = await openBucket()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const read = bucket.readWhole('key', 100, new AbortController().signal)
  const failure = read.catch((error: unknown) => error)
  await expect.poll(() => requests, soon).toEqual([''])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await failure).toMatchObject({ code: 'busy' })
  bucket.close()
})

test('requests credentials again that did not arrive', async () => {
  const fifo = path.join(folder, 'fifo')
  execFileSync('mkfifo', [fifo])
  const found = JSON.stringify({ Version: 1, AccessKeyId: 'key', SecretAccessKey: 'secret' })
  const program = path.join(folder, 'program')
  const started = `${folder}/started`
  // The first one prints nothing until the end of this test.
  const wait = `[ -e ${started} ] || { touch ${started}; cat ${fifo}; exit 1; }`
  writeFileSync(program, `#!/bin/sh\n${wait}\nprintf '%s' '${found}'\n`, { mode: 0o755 })
  writeFileSync(path.join(folder, 'config'), `[default]\ncredential_process = ${program}\n`)
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined)
  respond = (token, response) => response.end(pageOf(token, ''))
  const bucket = await openBucket()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const listPage = async (): Promise<unknown> => bucket.hasKeys('', new AbortController().signal)
  const calls = [listPage(), listPage()].map(async (call) => call.catch((error: unknown) => error))
  await expect.poll(() => existsSync(started), soon).toBe(true)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await Promise.all(calls)).toEqual([
    expect.objectContaining({ code: 'busy' }),
    expect.objectContaining({ code: 'busy' }),
  ])
  await vi.advanceTimersByTimeAsync(20_000)
  expect(requests).toEqual([])
  await listPage()
  expect(requests).toEqual([''])
  bucket.close()
  writeFileSync(fifo, '')
})
