// The demo process: writes its share of the streamers into a folder, and sends a message after each
// session.
import { mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import { AV_LOG_ERROR } from 'node-av/constants'
import { Log } from 'node-av/lib'
import { encodeClock } from './clock-strip.ts'
import type { DemoMessage, DemoShare } from './demo-library.ts'
import type { DemoStyle, DemoStreamer } from './demo-plan.ts'
import { encodeMusic } from './music.ts'
import { createPalette, PALETTES } from './palette.ts'
import { SCENES } from './scenes.ts'
import { encodeLoop } from './video-loop.ts'
import { writePoster } from './write-poster.ts'
import { describeFullFrame, writeRecording } from './write-recording.ts'

Log.setLevel(AV_LOG_ERROR)

/** Sessions begin in the evening. */
const START_OF_SESSION = 'T19:30:00Z'

// The parent is the only sender and shares the type. Without it there is nothing to do.
process.once('message', (share) => void makeShare(share as DemoShare))
process.once('disconnect', endWithoutParent)

async function makeShare({ folder, streamers }: DemoShare): Promise<void> {
  const lengths = streamers.flatMap(({ sessions }) => sessions.map((one) => one.lengthSeconds))
  const clock = encodeClock(Math.max(0, ...lengths))
  const whole = describeFullFrame()
  for (const streamer of streamers) {
    const music = encodeMusic(streamer.seed)
    makePoster(folder, streamer)
    for (const [number, session] of streamer.sessions.entries()) {
      const place = join(folder, streamer.name, session.date)
      mkdirSync(place, { recursive: true })
      const extension = session.container === 'ts' ? 'ts' : 'mp4'
      const path = join(place, `${session.sessionId}.${extension}`)
      const { scene, palette } = readLook(session, streamer.seed * 100 + number)
      const frames = encodeLoop(scene, palette, session.crf)
      writeRecording({ path, session }, whole, { frames, clock, music })
      const ended = Date.parse(session.date + START_OF_SESSION) / 1000 + session.lengthSeconds
      utimesSync(path, ended, ended)
      notify({ made: 1 })
      // Lets the message out, and detects the end of the parent.
      await pause()
    }
  }
  process.off('disconnect', endWithoutParent)
  process.disconnect()
}

function endWithoutParent(): void {
  process.exit(1)
}

function makePoster(folder: string, streamer: DemoStreamer): void {
  if (streamer.poster === undefined) return
  mkdirSync(join(folder, streamer.name), { recursive: true })
  const { scene, palette } = readLook(streamer.poster, streamer.seed)
  writePoster(join(folder, streamer.name, 'poster.jpg'), scene, palette)
}

function readLook({ scene, palette }: DemoStyle, seed: number) {
  return { scene: SCENES[scene](seed), palette: createPalette(PALETTES[palette] ?? []) }
}

function notify(message: DemoMessage): void {
  process.send?.(message)
}
