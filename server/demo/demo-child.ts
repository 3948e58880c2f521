// The demo process: writes its share of the streamers into a folder, and sends a message
// after each session.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import { AV_LOG_ERROR } from 'node-av/constants'
import { Log } from 'node-av/lib'
import { longestSession, PALETTES } from './demo-plan.ts'
import type { DemoStreamer, DemoStyle } from './demo-plan.ts'
import { encodeMusic } from './music.ts'
import { SCENES } from './scenes.ts'
import { encodeClock, encodeLoop, encodePoster } from './video.ts'
import { writeRecording } from './write-recording.ts'

/** Sessions begin in the evening. */
const START_OF_SESSION = 'T19:30:00Z'

Log.setLevel(AV_LOG_ERROR)
// Without the parent there is nothing to do.
process.on('disconnect', () => process.exit(1))
const [folder = '', share = ''] = process.argv.slice(2)
// The parent is the only caller and has written the streamers.
const streamers = JSON.parse(share) as DemoStreamer[]
const clock = encodeClock(Math.max(...streamers.map(longestSession)))
for (const streamer of streamers) await makeStreamer(streamer)
process.exit()

async function makeStreamer({ name, seed, poster, sessions }: DemoStreamer): Promise<void> {
  const home = join(folder, name)
  mkdirSync(home)
  if (poster) writeFileSync(join(home, 'poster.jpg'), encodePoster(...readLook(poster, seed)))
  const music = encodeMusic(seed)
  for (const [number, session] of sessions.entries()) {
    const { date, sessionId, container, lengthSeconds, crf } = session
    mkdirSync(join(home, date), { recursive: true })
    const path = join(home, date, `${sessionId}.${container === 'ts' ? 'ts' : 'mp4'}`)
    const video = encodeLoop(...readLook(session, seed * 100 + number), crf)
    writeRecording(path, session, { video, clock, music })
    const ended = Date.parse(date + START_OF_SESSION) / 1000 + lengthSeconds
    utimesSync(path, ended, ended)
    process.send?.('made')
    // Lets the message out, and detects the end of the parent.
    await pause()
  }
}

function readLook({ scene, palette }: DemoStyle, seed: number) {
  return [SCENES[scene](seed), PALETTES[palette]] as const
}
