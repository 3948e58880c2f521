// What a recorder leaves beside the recordings of the demo: titles, chapters, chats, subtitles.
import { DEMO_EMOTES } from './demo-emotes.ts'
import type { DemoSession } from './demo-plan.ts'
import { createRandom } from './random.ts'
import type { SceneName } from './scenes.ts'

/** Sessions begin in the evening. */
const START_OF_SESSION = 'T19:30:00Z'
/** Shorter ones are highlights, without chapters and chat. */
const LONG_SECONDS = 60

const WORDS: Record<SceneName, { game: string; titles: readonly string[] }> = {
  plasma: { game: 'Just Chatting', titles: ['Lava lamp evening', 'Colours and questions'] },
  hills: { game: 'Ridge Rider', titles: ['Over the hills', 'The long way home', 'Sunset run'] },
  grid: { game: 'Gridline', titles: ['Practice laps', 'New track, no map'] },
  warp: { game: 'Starfall', titles: ['Hyperspace with friends', 'Faster than yesterday'] },
  orbs: { game: 'Orbital', titles: ['Catching orbs', 'One more round'] },
  tunnel: { game: 'Deep Tunnel', titles: ['How far can we fall?', 'Into the deep'] },
  blocks: { game: 'Block Party', titles: ['Charity marathon', 'Stacking until it falls'] },
  runner: { game: 'Rooftop Runner', titles: ['Speedrun attempts', 'No-hit evening'] },
  bars: { game: 'Radio', titles: ['Requests by the harbour', 'Music and tea'] },
  city: { game: 'Night City', titles: ['Lights of the city', 'A walk after midnight'] },
}
const CHAPTERS = ['Hello and plans', 'Warming up', 'The main part', 'Questions', 'Good night']
const USERS = ['Ada', 'grace_h', 'Linus', 'margaret', 'Ken', 'barbara_l', 'Dennis', 'Zoë']
const COLOURS = ['#d2691e', '#1e90ff', '#2e8b57', '#ff69b4', '#9acd32', '#b22222']
const MESSAGES = [
  'hello from the train demoSmile',
  'this palette!',
  'wait, what was that',
  'nice save',
  'first time here, love it demoHeart',
  'demoHeart demoHeart demoHeart',
  'the music fits so well',
  'can we see the map again?',
  'haha',
  'go go go',
  'so close',
  'GG demoSmile',
]

const SPOKEN = [
  'Good evening from the harbour.',
  'The next one is a request.',
  'It was recorded on a rainy day.',
  'Stay for one more song.',
]

/** Milliseconds since 1970. */
export function startOf({ date, delayMinutes }: DemoSession): number {
  return Date.parse(date + START_OF_SESSION) + delayMinutes * 60_000
}

/** Whether somebody speaks: there are subtitles, and a second audio track. */
export function isTalk({ scene, container }: DemoSession): boolean {
  return scene === 'bars' && container !== 'parts'
}

/** The content of `streamer.json`. */
export function profileOf(name: string): object {
  return { description: `${name} is one of the fictional streamers of the demo library.` }
}

/** Names and contents of the files beside a session. */
export function sidecarsOf(session: DemoSession, seed: number): [file: string, text: string][] {
  const { sessionId, scene, lengthSeconds } = session
  const { game, titles } = WORDS[scene]
  const isLong = lengthSeconds >= LONG_SECONDS
  const info = {
    title: titles[Math.floor(createRandom(seed)() * titles.length)],
    game,
    description: isLong
      ? `${game} from the start. The main part: ${clock(lengthSeconds / 2)}.`
      : game,
    timestamp: startOf(session) / 1000,
    chapters: isLong ? chaptersOf(lengthSeconds) : [],
  }
  const files: [string, string][] = [[`${sessionId}.info.json`, JSON.stringify(info)]]
  if (isLong) files.push([`${sessionId}-chat.json`, chatOf(session, seed)])
  if (isTalk(session)) files.push([`${sessionId}.en.vtt`, subtitlesOf(lengthSeconds)])
  return files
}

function chaptersOf(lengthSeconds: number): object[] {
  const each = lengthSeconds / CHAPTERS.length
  return CHAPTERS.map((title, at) => ({
    title,
    start_time: at * each,
    end_time: (at + 1) * each,
  }))
}

/** As TwitchDownloader writes it: a message every few seconds, and a loud minute now and then. */
function chatOf(session: DemoSession, seed: number): string {
  const random = createRandom(seed)
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const comments: object[] = []
  for (let seconds = 2; seconds < session.lengthSeconds;) {
    const name = pick(USERS)
    comments.push({
      content_offset_seconds: seconds,
      commenter: { display_name: name },
      message: {
        body: pick(MESSAGES),
        user_color: COLOURS[USERS.indexOf(name ?? '') % COLOURS.length],
      },
    })
    const isLoud = Math.floor(seconds / 60) % 7 === 4
    seconds += (isLoud ? 0.5 : 2) + random() * (isLoud ? 1 : 6)
  }
  const thirdParty = Object.entries(DEMO_EMOTES).map(([name, data]) => ({ name, data }))
  return JSON.stringify({ streamer: {}, comments, embeddedData: { thirdParty } })
}

function subtitlesOf(lengthSeconds: number): string {
  const cues = ['WEBVTT']
  for (let at = 1; at + 4 <= lengthSeconds; at += 6) {
    const line = SPOKEN[Math.floor(at / 6) % SPOKEN.length] ?? ''
    cues.push(`${clock(at)}.000 --> ${clock(at + 4)}.000\n${line}`)
  }
  return `${cues.join('\n\n')}\n`
}

/** `0:01:02`, with two digits of the hours as WebVTT asks. */
function clock(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(11, 19)
}
