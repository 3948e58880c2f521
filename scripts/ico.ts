// The ICO container, with PNG images, as Windows Vista and later and all browsers read it.

const HEADER_BYTES = 6
const ENTRY_BYTES = 16
/** In an entry, 0 is 256 px. */
const MAX_SIZE = 256

/** An image of `size` by `size` pixels. */
export interface IcoImage {
  size: number
  png: Buffer
}

/** @throws RangeError for an image of more than 256 px */
export function formatIco(images: readonly IcoImage[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16LE(1, 2) // Type: icon.
  header.writeUInt16LE(images.length, 4)
  let offset = HEADER_BYTES + ENTRY_BYTES * images.length
  const entries = images.map(({ size, png }) => {
    if (size > MAX_SIZE) throw new RangeError(`an icon of ${size} px`)
    const entry = Buffer.alloc(ENTRY_BYTES)
    entry.writeUInt8(size % MAX_SIZE, 0)
    entry.writeUInt8(size % MAX_SIZE, 1)
    entry.writeUInt16LE(1, 4) // Planes.
    entry.writeUInt16LE(32, 6) // Bits per pixel.
    entry.writeUInt32LE(png.length, 8)
    entry.writeUInt32LE(offset, 12)
    offset += png.length
    return entry
  })
  return Buffer.concat([header, ...entries, ...images.map(({ png }) => png)])
}
