// The demo process: writes its share of the streamers into a folder, and sends a message
// after each session.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import { AV_LOG_ERROR } from 'node-av/constants'
import { Log } from 'node-av/lib'
import { longestSession, PALETTES } from './demo-plan.ts'
import type { DemoSession, DemoStreamer, DemoStyle } from './demo-plan.ts'
import { isTalk, profileOf, sidecarsOf, startOf } from './demo-sidecars.ts'
import { encodeMusic } from './music.ts'
import { SCENES } from './scenes.ts'
import { encodeClock, encodeLoop, encodePoster } from './video.ts'
import { writeRecording } from './write-recording.ts'

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
  const talk = sessions.some(isTalk) ? [music, encodeMusic(seed + 100)] : []
  writeFileSync(join(home, 'streamer.json'), JSON.stringify(profileOf(name)))
  for (const [number, session] of sessions.entries()) {
    const { date, sessionId, container, lengthSeconds, crf } = session
    const isFolder = container === 'parts'
    const place = isFolder ? join(home, date, sessionId) : join(home, date)
    mkdirSync(place, { recursive: true })
    const video = encodeLoop(...readLook(session, seed * 100 + number), crf)
    const content = { video, clock, music: isTalk(session) ? talk : [music] }
    const ended = startOf(session) / 1000 + lengthSeconds
    for (const { name: part, from, to } of partsOf(session)) {
      const path = join(place, part)
      writeRecording(path, { container, from, to }, content)
      utimesSync(path, ended, ended)
    }
    for (const [file, text] of sidecarsOf(session, seed * 100 + number)) {
      writeFileSync(join(place, file), text)
    }
    process.send?.('made')
    // Lets the message out, and detects the end of the parent.
    await pause()
  }
}

/** Two parts have a whole number of GOPs each. */
function partsOf({ container, sessionId, lengthSeconds }: DemoSession) {
  if (container !== 'parts') {
    const name = `${sessionId}.${container === 'ts' ? 'ts' : 'mp4'}`
    return [{ name, from: 0, to: lengthSeconds }]
  }
  const middle = 2 * Math.floor(lengthSeconds / 4)
  return [
    { name: '1.ts', from: 0, to: middle },
    { name: '2.ts', from: middle, to: lengthSeconds },
  ]
}

function readLook({ scene, palette }: DemoStyle, seed: number) {
  return [SCENES[scene](seed), PALETTES[palette]] as const
}
