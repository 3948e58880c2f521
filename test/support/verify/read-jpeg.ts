// Decodes a JPEG with FFmpeg (node-av): its size, and the brightness of regions.
import { FF_DECODER_MJPEG } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet } from 'node-av/lib'

export interface ReadImage {
  width: number
  height: number
  /** Mean of the luma in the middle half of a region, 0 to 255. */
  meanLuma(region: Region): number
}

export interface Region {
  x: number
  y: number
  width: number
  height: number
}

/** Throws if the bytes are not a JPEG. */
export function readJpeg(bytes: Uint8Array): ReadImage {
  const codec = Codec.findDecoderByName(FF_DECODER_MJPEG)
  if (codec === null) throw new Error('no decoder for JPEG')
  using context = new CodecContext()
  context.allocContext3(codec)
  FFmpegError.throwIfError(context.open2Sync(codec, null), 'open')
  using packet = new Packet()
  packet.alloc()
  packet.data = Buffer.from(bytes)
  FFmpegError.throwIfError(context.sendPacketSync(packet), 'decode')
  FFmpegError.throwIfError(context.sendPacketSync(null), 'decode')
  using frame = new Frame()
  frame.alloc()
  FFmpegError.throwIfError(context.receiveFrameSync(frame), 'decode')
  const { width, height } = frame
  const luma = frame.toBuffer().subarray(0, width * height)
  const meanLuma = (region: Region): number => {
    let sum = 0
    let count = 0
    for (let y = Math.floor(region.height / 4); y < (region.height * 3) / 4; y += 1) {
      for (let x = Math.floor(region.width / 4); x < (region.width * 3) / 4; x += 1) {
        sum += luma[(region.y + y) * width + region.x + x] ?? NaN
        count += 1
      }
    }
    return sum / count
  }
  return { width, height, meanLuma }
}
