// Recordings with several audio or subtitle tracks, through the program: multivariant playlists and
// their renditions.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { sessionResponse } from '../shared/contract.ts'
import { playlistApiPath, sessionApiPath } from '../shared/paths.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { makeEncodedTs } from './support/make/make-encoded-ts.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { readReferencePackets } from './support/verify/reference-packets.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import {
  createTempLibrary,
  fixturePath,
  RECORDED_AT,
  SMALL_FIXTURE,
} from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { soon } from './support/patience.ts'
import { makeTempFolder } from './support/temp-folder.ts'

const TWO_AUDIO_TRACKS = 'mp4-h264-two-video-two-audio-movtext.mp4'
const SUBTITLES = 'mkv-h264-two-audio-subs-truncated.mkv'
const TS = 'ts-h264-aac-clean-hls-concat.ts'
const IMMUTABLE = 'public, max-age=31536000, immutable'

let library: TempLibrary
let server: StartedServer
let scratch: string

beforeAll(async () => {
  library = await createTempLibrary('renditions')
  scratch = makeTempFolder('renditions')
  const srt = '1\n00:00:02,000 --> 00:00:08,000\nHello <b>there</b>\n'
  await library.place('alice/2026-01-31/audio.mp4', TWO_AUDIO_TRACKS)
  await library.place('alice/2026-01-31/subtitles.mkv', SUBTITLES)
  await library.place('alice/2026-01-31/ts.ts', TS)
  await library.place('alice/2026-01-31/ts.de.srt', Buffer.from(srt))
  await library.place('alice/2026-01-31/plain.mp4', SMALL_FIXTURE)
  const mp3 = join(scratch, 'mp3')
  await makeEncodedTs(mp3, {
    seconds: 3,
    video: { encoder: 'libx264' },
    audioTracks: [{ encoder: 'libmp3lame', channels: 2 }],
  })
  await library.place('alice/2026-01-31/mp3.ts', await readFile(mp3))
  await library.place('alice/2026-01-31/mp3.srt', Buffer.from(srt))
  server = await startServer({ args: library.args })
})

function playlistUrl(sessionId: string): string {
  return server.url + playlistApiPath({ streamer: 'alice', date: '2026-01-31', sessionId })
}

interface Multivariant {
  text: string
  media: { type: string; url: string | undefined; line: string }[]
  variantUrl: string
}

async function multivariant(sessionId: string): Promise<Multivariant> {
  const base = playlistUrl(sessionId)
  const text = await vi.waitFor(async () => {
    const response = await fetch(base)
    expect(response.status).toBe(200)
    return response.text()
  }, soon)
  const lines = text.trimEnd().split('\n')
  const media = lines
    .filter((line) => line.startsWith('#EXT-X-MEDIA:'))
    .map((line) => {
      const uri = /URI="(?<uri>[^"]+)"/.exec(line)?.groups?.uri
      const type = /TYPE=(?<type>[A-Z]+)/.exec(line)?.groups?.type ?? ''
      return { type, line, url: uri === undefined ? undefined : new URL(uri, base).href }
    })
  return { text, media, variantUrl: new URL(lines.at(-1) ?? '', base).href }
}

async function ask(url: string) {
  const { origin, pathname, search } = new URL(url)
  return rawRequest(origin, pathname + search)
}

/** Packets of all segments of a media playlist. */
async function packetsOf(url: string) {
  const { segments } = await fetchPlaylist(url)
  const path = join(scratch, 'segments')
  await writeFile(path, Buffer.concat(await Promise.all(segments.map(fetchSegment))))
  return readReferencePackets(path)
}

type Packets = Awaited<ReturnType<typeof readReferencePackets>>

const hashesOf = (kind: string) => (packets: Packets) =>
  packets.filter((packet) => packet.kind === kind).map(({ sha1 }) => sha1)
const audioOf = hashesOf('audio')
const videoOf = hashesOf('video')

/** Hashes of the packets of each audio track. */
async function recordedAudio(): Promise<string[][]> {
  const source = await readReferencePackets(fixturePath(TWO_AUDIO_TRACKS))
  const packets = source.filter(({ kind }) => kind === 'audio')
  return [...new Set(packets.map(({ streamIndex }) => streamIndex))].map((stream) =>
    audioOf(packets.filter(({ streamIndex }) => streamIndex === stream)),
  )
}

describe('a recording with several audio tracks', () => {
  it('has the first in its segments, and the others as renditions', async () => {
    const { text, media, variantUrl } = await multivariant('audio')
    expect(media.map(({ type, url }) => [type, url !== undefined])).toContainEqual(['AUDIO', true])
    expect(text).toMatch(/^#EXT-X-STREAM-INF:.*CODECS="avc1\.[^"]*mp4a/m)
    expect(text).toMatch(/RESOLUTION=\d+x\d+/)
    const [first, second] = await recordedAudio()
    expect(audioOf(await packetsOf(variantUrl))).toEqual(first)
    const other = await packetsOf(media.find(({ url }) => url !== undefined)?.url ?? '')
    expect(audioOf(other)).toEqual(second)
  })

  it('has a requested audio in its segments, in place of the first', async () => {
    const [, second] = await recordedAudio()
    const usual = await packetsOf(playlistUrl('audio'))
    const requested = await packetsOf(`${playlistUrl('audio')}?audio=en.2`)
    expect(audioOf(requested)).toEqual(second)
    expect(videoOf(requested)).toEqual(videoOf(usual))
  })

  it('takes the language of an audio, and which one of it, else the first audio', async () => {
    const variantOf = async (query: string) => {
      const { status, body } = await ask(playlistUrl('audio') + query)
      return [status, /main[^/]*$/.exec(body.toString().trim())?.[0]]
    }
    for (const usual of ['?audio=en', '?audio=EN.1', '?audio=en.3', '?audio=xx', '?audio=und.2'])
      expect(await variantOf(usual)).toEqual([200, 'main.m3u8'])
    expect(await variantOf('?audio=en.2')).toEqual([200, 'main-1.m3u8'])
    for (const malformed of ['?audio=', '?audio=a/b', '?audio=en&audio=de', '?audio=en%0a'])
      expect((await variantOf(malformed))[0]).toBe(400)
    expect((await ask(`${playlistUrl('plain')}?audio=de`)).status).toBe(200)
  })

  it('never encrypts two segments with one key and IV', async () => {
    const { media, variantUrl } = await multivariant('audio')
    const selected = ['audio=en.2', 'quality=audio', 'quality=audio&audio=en.2']
    const urls = [
      variantUrl,
      ...selected.map((query) => `${playlistUrl('audio')}?${query}`),
      ...media.flatMap(({ type, url }) => (type === 'AUDIO' ? (url ?? []) : [])),
    ]
    const segments = (await Promise.all(urls.map(async (url) => fetchPlaylist(url)))).flatMap(
      (p) => p.segments,
    )
    const ivs = new Map(segments.map(({ key, url }) => [key?.iv.toString('hex'), url]))
    // The second audio alone is the same whether it is a rendition or a quality.
    expect(ivs.size).toBe(new Set(segments.map(({ url }) => url)).size)
  })
})

describe('a quality of a session', () => {
  it('is the original by default, and by name', async () => {
    for (const id of ['audio', 'plain', 'subtitles']) {
      const { body } = await ask(playlistUrl(id))
      expect((await ask(`${playlistUrl(id)}?quality=original`)).body).toEqual(body)
    }
  })

  it('has the audio that is requested, alone', async () => {
    const recorded = await recordedAudio()
    for (const [at, query] of ['', '&audio=en.2'].entries()) {
      const packets = await packetsOf(`${playlistUrl('audio')}?quality=audio${query}`)
      expect(audioOf(packets)).toEqual(recorded[at])
      expect(videoOf(packets)).toEqual([])
    }
  })

  it('has subtitles beside a picture, not beside sound alone', async () => {
    const saver = (await ask(`${playlistUrl('ts')}?quality=saver`)).body.toString()
    expect(saver).toMatch(/TYPE=SUBTITLES.*\n#EXT-X-STREAM-INF:.*\n\S+\/saver-0\.m3u8\n$/)
    const bandwidthOf = (text: string) => Number(/BANDWIDTH=(?<bits>\d+)/.exec(text)?.groups?.bits)
    expect(bandwidthOf(saver)).toBeLessThan(bandwidthOf((await multivariant('ts')).text))
    const sound = (await ask(`${playlistUrl('ts')}?quality=audio`)).body.toString()
    expect(sound).toContain('/a0-init-0.mp4')
    expect(sound).not.toContain('SUBTITLES')
  })

  it('names the codec that is sent: MP3 in packets of MPEG-TS, else AAC', async () => {
    const video = 'avc1.42c00b'
    const sent = { original: `${video},mp4a.40.34`, saver: `${video},mp4a.40.2` }
    for (const [quality, codecs] of Object.entries(sent)) {
      const { body } = await ask(`${playlistUrl('mp3')}?quality=${quality}`)
      expect(body.toString()).toContain(`CODECS="${codecs}"`)
    }
    const reference = { streamer: 'alice', date: '2026-01-31', sessionId: 'mp3' }
    const details = await (await fetch(server.url + sessionApiPath(reference))).json()
    const { qualities } = parseExactly(sessionResponse, details)
    expect(qualities.map(({ id, codecs }) => [id, codecs])).toEqual([
      ...Object.entries(sent),
      ['audio', 'mp4a.40.2'],
    ])
    expect(qualities.every(({ bandwidth }) => bandwidth > 100_000)).toBe(true)
  })

  it('that is unknown, or that the session lacks, is an error of its own', async () => {
    // The fixture has a key frame every ten seconds.
    const queries = { plain: ['?quality=', '?quality=4k', '?quality=audio&quality=audio'] }
    for (const [id, each] of Object.entries({ ...queries, audio: ['?quality=saver'] }))
      for (const query of each) {
        const { status, body } = await ask(playlistUrl(id) + query)
        expect([query, status]).toEqual([query, 404])
        expect(JSON.parse(body.toString())).toHaveProperty('error.code', 'no_such_quality')
      }
  })

  it('is listed in the details, with what it needs', async () => {
    const detailsOf = async (sessionId: string) => {
      const path = sessionApiPath({ streamer: 'alice', date: '2026-01-31', sessionId })
      return parseExactly(
        sessionResponse,
        JSON.parse((await ask(server.url + path)).body.toString()),
      )
    }
    const { video, qualities } = await detailsOf('ts')
    expect(video).toEqual({ codec: 'avc1.42c00d', width: 320, height: 180 })
    const codecs = 'avc1.42c00d,mp4a.40.2'
    const bandwidth = expect.any(Number)
    expect(qualities).toEqual([
      { id: 'original', label: 'Original', bandwidth, codecs },
      { id: 'saver', label: 'Data saver', bandwidth, codecs, keyFrameSeconds: 1 },
      { id: 'audio', label: 'Sound only', bandwidth, codecs: 'mp4a.40.2' },
    ])
    const bits = qualities.map(({ bandwidth }) => bandwidth)
    expect(bits.toSorted((a, b) => b - a)).toEqual(bits)
    expect((await detailsOf('audio')).qualities.map(({ id }) => id)).toEqual(['original', 'audio'])
  })
})

describe('subtitles', () => {
  it('of a recording are offered by language', async () => {
    const { media } = await multivariant('subtitles')
    const lines = media.filter(({ type }) => type === 'SUBTITLES')
    expect(lines.length).toBe(8)
    expect(lines.map(({ line }) => line).join('\n')).toContain('NAME="Deutsch",LANGUAGE="de"')
    for (const { url } of lines) {
      const { segments, isEnded } = await fetchPlaylist(url ?? '')
      expect(isEnded).toBe(true)
      const { status, headers, body } = await ask(segments[0]?.url ?? '')
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/vtt; charset=utf-8')
      expect(body.toString().startsWith('WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:')).toBe(true)
    }
  })

  it('next to a recording are split like the recording, on its clock', async () => {
    const { media, variantUrl } = await multivariant('ts')
    const [text] = media
    const listed = await fetchPlaylist(text?.url ?? '')
    const main = await fetchPlaylist(variantUrl)
    expect(listed.segments.map(({ durationSeconds }) => durationSeconds)).toEqual(
      main.segments.map(({ durationSeconds }) => durationSeconds),
    )
    let startSeconds = 0
    for (const [i, segment] of listed.segments.slice(0, 3).entries()) {
      const answer = await ask(segment.url)
      expect(answer.headers['cache-control']).toBe(IMMUTABLE)
      const content = answer.body.toString()
      expect(content.includes('Hello <b>there</b>')).toBe(i > 0)
      const path = join(scratch, 'segment.ts')
      const frames = main.segments[i]
      if (frames === undefined) throw new Error('fewer segments of video')
      await writeFile(path, await fetchSegment(frames))
      const first = (await readReferencePackets(path)).find(({ kind }) => kind === 'video')
      const map = /MPEGTS:(?<ticks>\d+),LOCAL:00:00:(?<seconds>[\d.]+)/.exec(content)?.groups
      expect(Number(map?.ticks) / 90_000).toBeCloseTo(first?.ptsSeconds ?? NaN, 3)
      expect(Number(map?.seconds)).toBeCloseTo(startSeconds, 2)
      startSeconds += segment.durationSeconds
    }
  })

  it('have other URLs after a change', async () => {
    const before = (await multivariant('ts')).media[0]?.url ?? ''
    const other = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nOther\n')
    await library.place('alice/2026-01-31/ts.de.srt', other, RECORDED_AT)
    const after = (await multivariant('ts')).media[0]?.url ?? ''
    expect(after).not.toBe(before)
    expect((await ask(before)).status).toBe(404)
    expect((await ask(after)).status).toBe(200)
  })
})

describe('a recording with one audio track and no subtitles', () => {
  it('has a media playlist, and no renditions', async () => {
    const { segments } = await fetchPlaylist(playlistUrl('plain'))
    const base = new URL('.', segments[0]?.url).href
    for (const name of ['audio-1.m3u8', 'text-0.m3u8', 'a1-0.m4s', 'a1-init-0.mp4', 't0-0.vtt'])
      expect((await ask(base + name)).status).toBe(404)
    expect((await fetchPlaylist(`${base}main.m3u8`)).segments.length).toBe(segments.length)
  })
})
