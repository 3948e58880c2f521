import { expect, it } from 'vitest'
import { Gate } from '../admission/gate.ts'
import type { Sidecar } from './sidecar.ts'
import { SidecarImages } from './sidecar-images.ts'

const { signal } = new AbortController()
const MIB = 1024 * 1024

/** A PNG that counts how often it is read. */
function png(key: string, sizeBytes: number): Sidecar & { reads: () => number } {
  let reads = 0
  const read = async (): Promise<Uint8Array> => {
    reads += 1
    const bytes = Buffer.alloc(sizeBytes, key)
    bytes.write('\x89PNG\r\n\x1a\n', 'latin1')
    return bytes
  }
  return { key, sizeBytes, read, reads: () => reads }
}

function newImages(limit: number) {
  const gate = new Gate({ limit, waiting: 1, busyMessage: 'full' })
  return { gate, images: new SidecarImages(gate) }
}

it('shares the bytes of one version between all requests', async () => {
  const { gate, images } = newImages(30 * MIB)
  const sidecar = png('a', 10 * MIB)
  const leases = await Promise.all(Array.from({ length: 500 }, () => images.lease(sidecar, signal)))
  const later = await images.lease(sidecar, signal)
  expect(new Set([...leases, later].map((image) => image?.bytes)).size).toBe(1)
  expect(sidecar.reads()).toBe(1)
  expect(gate.figures).toMatchObject({ used: 10 * MIB, admitted: 1 })
  const replaced = await images.lease(png('b', 5 * MIB), signal)
  expect(replaced?.version).not.toBe(later?.version)
  for (const image of [...leases, later, replaced]) image?.release()
  expect(gate.figures.used).toBe(0)
})

it('refuses more bytes than its limit until some are released', async () => {
  const { gate, images } = newImages(20 * MIB)
  const first = await images.lease(png('a', 10 * MIB), signal)
  await images.lease(png('b', 10 * MIB), signal)
  const abandoned = new AbortController()
  const left = images.lease(png('c', 10 * MIB), abandoned.signal)
  await expect(images.lease(png('d', 10 * MIB), signal)).rejects.toMatchObject({ code: 'busy' })
  abandoned.abort(new Error('disconnected'))
  await expect(left).rejects.toThrow('disconnected')
  const waiting = images.lease(png('e', 10 * MIB), signal)
  first?.release()
  first?.release()
  expect(await waiting).toBeDefined()
  expect(gate.figures.used).toBe(20 * MIB)
})

it('releases what cannot be read or is no image', async () => {
  const { gate, images } = newImages(20 * MIB)
  const unreadable = { ...png('a', 10), read: () => Promise.reject(new Error('failed')) }
  await expect(images.lease(unreadable, signal)).rejects.toThrow('failed')
  const text = { ...png('b', 10), read: async () => Buffer.from('<svg/>') }
  expect(await images.lease(text, signal)).toBeUndefined()
  expect(await images.lease(png('c', 11 * MIB), signal)).toBeUndefined()
  expect(gate.figures.used).toBe(0)
})
