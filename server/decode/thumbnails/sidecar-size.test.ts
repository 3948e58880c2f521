import { expect, it } from 'vitest'
import { watchCpu } from '../../../test/support/cpu-time.ts'
import { sidecarSize } from './sidecar-size.ts'

/** The size of an image, and how much of it was read. */
async function sizeOf(image: Buffer) {
  let readBytes = 0
  const size = await sidecarSize({
    key: 'a',
    sizeBytes: image.length,
    read: async (maxBytes) => {
      const bytes = image.subarray(0, maxBytes)
      readBytes += bytes.length
      return bytes
    },
  })
  return { size, readBytes }
}

function box(type: string, ...content: Buffer[]): Buffer {
  const header = Buffer.alloc(8)
  const body = Buffer.concat(content)
  header.writeUInt32BE(header.length + body.length)
  header.write(type, 4)
  return Buffer.concat([header, body])
}

/** An AVIF file of 640 x 360 with these boxes after its size. */
function avif(boxes = Buffer.alloc(0)): Buffer {
  const size = box('ispe', Buffer.from('000000000000028000000168', 'hex'))
  const properties = box('iprp', box('ipco', size, boxes))
  return Buffer.concat([
    box('ftyp', Buffer.from('avif\0\0\0\0avifmif1')),
    box('meta', Buffer.alloc(4), properties),
    box('mdat', Buffer.alloc(1_000_000)),
  ])
}

it('reads the size from the start of the file', async () => {
  expect((await sizeOf(avif())).size).toEqual({ width: 640, height: 360 })
  const png = Buffer.from('89504e470d0a1a0a0000000d494844520000028000000168', 'hex')
  const { size, readBytes } = await sizeOf(Buffer.concat([png, Buffer.alloc(9_000_000)]))
  expect(size).toEqual({ width: 640, height: 360 })
  expect(readBytes).toBeLessThan(200_000)
})

it('parses any bytes fast', async () => {
  const cpuMs = watchCpu()
  const sizes = Buffer.alloc(400_000, box('ispe', Buffer.alloc(12)))
  const others = Buffer.alloc(400_000, box('free'))
  await sizeOf(avif(Buffer.concat([sizes, others])))
  const segment = Buffer.from('ffe10002', 'hex')
  const jpeg = Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.alloc(8_000_000, segment)])
  expect((await sizeOf(jpeg)).size).toBeUndefined()
  expect(cpuMs()).toBeLessThan(1000)
})

it('has no size of a file that is not served', async () => {
  expect((await sizeOf(Buffer.from('<svg width="1" height="1"/>'))).size).toBeUndefined()
  expect((await sizeOf(Buffer.concat([avif(), Buffer.alloc(11_000_000)]))).size).toBeUndefined()
})
