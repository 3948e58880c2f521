// @vitest-environment jsdom
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { mediaErrorCode } from './media-failure.ts'

let server: Server
let origin: string
let requested: string[]
let left: AbortController

beforeEach(async () => {
  requested = []
  left = new AbortController()
  server = createServer((request, response) => {
    requested.push(request.url ?? '')
    const { searchParams } = new URL(request.url ?? '', 'http://cdn.example')
    if (searchParams.has('cors')) response.setHeader('access-control-allow-origin', '*')
    if (searchParams.has('hang')) return
    response.writeHead(Number(searchParams.get('status'))).end('x'.repeat(1000))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  origin = `http://127.0.0.1:${address.port}`
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** The code for a video with this error of MediaError. */
function codeOf(error: number, url: string) {
  const video = document.createElement('video')
  Object.defineProperty(video, 'error', { value: { code: error } })
  return mediaErrorCode(video, url, left.signal)
}

test.each([
  [2, 402],
  [3, 405],
])('derives from the error %i the code %i, without a request', async (error, code) => {
  expect(await codeOf(error, `${origin}/ad.mp4?cors&status=404`)).toBe(code)
  expect(requested).toEqual([])
})

test.each([
  [404, 401],
  [403, 401],
  [500, 401],
  [200, 405],
])('requests a file once more that cannot be used: status %i is %i', async (status, code) => {
  expect(await codeOf(4, `${origin}/ad.mp4?cors&status=${status}`)).toBe(code)
  expect(requested).toHaveLength(1)
})

test('does not claim that the file is missing without a response', async () => {
  expect(await codeOf(4, 'http://127.0.0.1:1/ad.mp4')).toBe(405)
})

test('does not claim that the file is missing once the visitor has left', async () => {
  const code = codeOf(4, `${origin}/ad.mp4?cors&hang`)
  await expect.poll(() => requested).toHaveLength(1)
  left.abort()
  expect(await code).toBe(405)
})
