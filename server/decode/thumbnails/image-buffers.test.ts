import { expect, it } from 'vitest'
import { Gate } from '../../base/admission/gate.ts'
import { ImageBuffers } from './image-buffers.ts'

const { signal } = new AbortController()
const MIB = 1024 * 1024

/** An image that counts how often it is read. */
function imageOf(key: string, sizeBytes: number) {
  let reads = 0
  const read = async () => {
    reads += 1
    return { bytes: Buffer.alloc(sizeBytes, key) }
  }
  return { key, sizeBytes, read, reads: () => reads }
}

function newImages(limit: number) {
  const gate = new Gate({ limit, waiting: 1, busyMessage: 'full' })
  return { gate, images: new ImageBuffers({ gate, maxIdleBytes: 24 * MIB }) }
}

it('shares the bytes of one version between all requests', async () => {
  const { gate, images } = newImages(30 * MIB)
  const sidecar = imageOf('a', 10 * MIB)
  const leases = await Promise.all(Array.from({ length: 500 }, () => images.lease(sidecar, signal)))
  const later = await images.lease(sidecar, signal)
  expect(new Set([...leases, later].map((image) => image?.bytes)).size).toBe(1)
  expect(sidecar.reads()).toBe(1)
  expect(gate.figures).toMatchObject({ used: 10 * MIB, admitted: 1 })
  for (const image of [...leases, later]) image?.release()
  expect(gate.figures.used).toBe(0)
})

it('refuses more bytes than its limit until some are released', async () => {
  const { gate, images } = newImages(20 * MIB)
  const first = await images.lease(imageOf('a', 10 * MIB), signal)
  await images.lease(imageOf('b', 10 * MIB), signal)
  const abandoned = new AbortController()
  const left = images.lease(imageOf('c', 10 * MIB), abandoned.signal)
  await expect(images.lease(imageOf('d', 10 * MIB), signal)).rejects.toMatchObject({ code: 'busy' })
  abandoned.abort(new Error('disconnected'))
  await expect(left).rejects.toThrow('disconnected')
  const waiting = images.lease(imageOf('e', 10 * MIB), signal)
  first?.release()
  first?.release()
  expect(await waiting).toBeDefined()
  expect(gate.figures.used).toBe(20 * MIB)
})

it.each([10, undefined])('releases what cannot be read or is no image (size %s)', async (size) => {
  const { gate, images } = newImages(20 * MIB)
  const loader = { key: 'a', ...(size && { sizeBytes: size }) }
  const unreadable = { ...loader, read: async () => Promise.reject(new Error('failed')) }
  await expect(images.lease(unreadable, signal)).rejects.toThrow('failed')
  expect(await images.lease({ ...loader, read: async () => undefined }, signal)).toBeUndefined()
  expect(gate.figures.used).toBe(0)
})

it('charges one of unknown size once it is read, and again when it is sent later', async () => {
  const { gate, images } = newImages(20 * MIB)
  const { key, read, reads } = imageOf('a', 3 * MIB)
  for (const _ of ['read', 'idle']) {
    const leases = await Promise.all([1, 2, 3].map(() => images.lease({ key, read }, signal)))
    expect(gate.figures.used).toBe(3 * MIB)
    for (const image of leases) image?.release()
    expect(gate.figures.used).toBe(0)
  }
  expect(reads()).toBe(1)
})
