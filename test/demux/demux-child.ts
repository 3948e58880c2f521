// Reads a media file with FFmpeg in its own process, and sends its tracks and packets to the test.
import { AV_LOG_QUIET } from 'node-av/constants'
import { FFmpegError, FormatContext, Log, Packet } from 'node-av/lib'
import type { DemuxResult, DemuxedPacket } from './demux.ts'

process.on('message', ({ path, withData }: { path: string; withData: 'all' | 'keys' }) => {
  process.send?.(demux(path, withData), () => process.exit())
})

function demux(path: string, withData: 'all' | 'keys'): DemuxResult {
  Log.setLevel(AV_LOG_QUIET)
  const input = new FormatContext()
  FFmpegError.throwIfError(input.openInputSync(path), 'open')
  FFmpegError.throwIfError(input.findStreamInfoSync(), 'read')
  const tracks = input.streams.map(({ codecpar, timeBase }) => ({
    kind: codecpar.codecType === 0 ? ('video' as const) : ('audio' as const),
    codecId: Number(codecpar.codecId),
    timescale: timeBase.den / timeBase.num,
    extradata: codecpar.extradata ?? undefined,
    width: codecpar.width,
    height: codecpar.height,
    sampleRate: codecpar.sampleRate,
  }))
  const packets: DemuxedPacket[] = []
  using packet = new Packet()
  packet.alloc()
  while (input.readFrameSync(packet) >= 0) {
    packets.push({
      track: packet.streamIndex,
      pts: Number(packet.pts),
      dts: Number(packet.dts),
      sizeBytes: packet.size,
      isKey: packet.isKeyframe,
      data:
        packet.data !== null && (withData === 'all' || packet.isKeyframe)
          ? Uint8Array.from(packet.data)
          : undefined,
    })
    packet.unref()
  }
  input.closeInputSync()
  return { tracks, packets }
}
