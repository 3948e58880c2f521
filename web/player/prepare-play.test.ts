// @vitest-environment jsdom
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { preparePlay } from './prepare-play.ts'

test('asks for the playlist, and says nothing where it cannot be had', async () => {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(503).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  preparePlay(`http://127.0.0.1:${port}/playlist.m3u8`)
  preparePlay('http://127.0.0.1:1/nobody')
  await vi.waitFor(() => expect(asked).toEqual(['/playlist.m3u8']))
})
