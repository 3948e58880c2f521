import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { parseFileName } from '../../../stream/hls/playlist/segment-names.ts'
import { addRequestKind, fileKind } from './request-kind.ts'

describe('fileKind', () => {
  it.each([
    ['12.ts', 'segment'],
    ['a1-12.m4s', 'segment'],
    ['t0-12.vtt', 'subtitle'],
    ['init-0.mp4', 'init'],
    ['audio-1.m3u8', 'playlist'],
    ['key', 'key'],
    ['12.exe', 'other'],
  ])('of %s is %s', (fileName, kind) => {
    expect(fileKind(parseFileName(fileName))).toBe(kind)
  })
})

describe('addRequestKind', () => {
  it('makes the kind that a route sets available to hooks', async () => {
    const kinds: string[] = []
    const app = Fastify()
    addRequestKind(app)
    app.addHook('onResponse', async (request) => void kinds.push(request.kind))
    app.get('/segment', async (request) => {
      request.kind = 'segment'
      return 'bytes'
    })
    await app.inject('/segment')
    await app.inject('/missing')
    expect(kinds).toEqual(['segment', 'other'])
    await app.close()
  })
})
