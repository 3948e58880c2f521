import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { imageSize } from 'image-size'
import { beforeEach, describe, expect, it } from 'vitest'
import { demux } from '../../test/demux/demux.ts'
import { createDemoLibrary } from './demo-library.ts'
import { DEMO_PLAN } from './demo-plan.ts'
import type { DemoSession, DemoStreamer } from './demo-plan.ts'
import { makeTempFolder } from '../../test/support/temp-folder.ts'

const H264 = 27
const AAC = 86018
const { signal } = new AbortController()

let parent: string
let folder: string
beforeEach(async () => {
  parent = makeTempFolder('demo')
  folder = join(parent, 'library')
})

const LENGTH_SECONDS = 10
/** One group of frames, where the media does not matter. */
const BRIEF_SECONDS = 2

function plan(
  containers: DemoSession['container'][],
  lengthSeconds: number = LENGTH_SECONDS,
): DemoStreamer[] {
  const session = { date: '2025-10-04', lengthSeconds, crf: 40, delayMinutes: 0 } as const
  const sessions = containers.map((container, number) => ({
    ...session,
    sessionId: `${number}`,
    container,
    scene: 'plasma' as const,
    palette: 'gold' as const,
  }))
  return [{ name: 'Ada', seed: 1, poster: { scene: 'grid', palette: 'dusk' }, sessions }]
}

function placeOfIndex(bytes: Buffer): string {
  const [index, media] = [bytes.indexOf('moov'), bytes.indexOf('mdat')]
  if (bytes.toString('latin1', 4, 8) !== 'ftyp' || index === -1) return 'none'
  return index < media ? 'first' : 'last'
}

describe('createDemoLibrary', () => {
  it.each(['ts', 'mp4', 'mp4-fast'] as const)(
    'writes %s that plays as planned, and a poster',
    async (container) => {
      const lines: string[] = []
      const outcome = await createDemoLibrary(folder, {
        signal,
        plan: plan([container]),
        onProgress: (line) => lines.push(line),
      })
      expect(outcome).toBe('made')
      expect(lines).toEqual(['Making the demo library: 1 of 1 sessions'])
      const path = join(folder, 'Ada', '2025-10-04', container === 'ts' ? '0.ts' : '0.mp4')
      expect((await stat(path)).mtime.toISOString()).toBe('2025-10-04T19:30:10.000Z')
      const { tracks, packets } = await demux(path)
      expect(tracks.map(({ codecId }) => codecId)).toEqual([H264, AAC])
      expect(tracks[0]).toMatchObject({ width: 960, height: 540 })
      tracks.forEach(({ timescale }, track) => {
        const own = packets.filter((packet) => packet.track === track)
        const [shown, decoded] = [own.map(({ pts }) => pts), own.map(({ dts }) => dts)]
        expect(decoded).toEqual(decoded.toSorted((left, right) => left - right))
        expect(new Set(decoded).size).toBe(own.length)
        expect((Math.max(...shown) - Math.min(...shown)) / timescale).toBeGreaterThan(9.9)
        expect((Math.max(...shown) - Math.min(...shown)) / timescale).toBeLessThan(10)
      })
      const frames = packets.filter(({ track }) => track === 0)
      const keys = frames.flatMap(({ isKey }, number) => (isKey ? [number] : []))
      expect(keys).toEqual([0, 40, 80, 120, 160])
      expect(frames.some(({ pts, dts }) => pts - dts > (tracks[0]?.timescale ?? 0) / 20)).toBe(true)
      const places = { ts: 'none', mp4: 'last', 'mp4-fast': 'first' }
      expect(placeOfIndex(await readFile(path))).toBe(places[container])
      const poster = await readFile(join(folder, 'Ada', 'poster.jpg'))
      expect(poster.subarray(0, 3)).toEqual(Buffer.of(0xff, 0xd8, 0xff))
    },
  )

  it('draws every scene of the demo, and more than an hour', async () => {
    const sessions = DEMO_PLAN.flatMap((streamer) => streamer.sessions)
    const longestFirst = sessions.toSorted((a, b) => b.lengthSeconds - a.lengthSeconds)
    const all = [...new Map(longestFirst.toReversed().map((one) => [one.scene, one])).values()].map(
      (session, number) => ({
        ...session,
        sessionId: `${number}`,
        lengthSeconds: session === longestFirst[0] ? session.lengthSeconds : 10,
      }),
    )
    const streamer = { name: 'Ada', seed: 1, sessions: all }
    expect(await createDemoLibrary(folder, { signal, plan: [streamer] })).toBe('made')
    const days = await readdir(join(folder, 'Ada'), { recursive: true, withFileTypes: true })
    const files = days.filter(({ name }) => /\.(?:ts|mp4)$/.test(name))
    expect(files).toHaveLength(all.length)
    for (const { parentPath, name } of files) {
      const { tracks } = await demux(join(parentPath, name))
      expect(tracks.map(({ codecId }) => codecId).slice(0, 2)).toEqual([H264, AAC])
    }
  })

  it('writes parts, two audio tracks, and what recorders leave beside them', async () => {
    const [streamer] = plan(['parts', 'mp4'])
    const [parts, talk] = streamer?.sessions ?? []
    if (!parts || !talk) throw new Error('no sessions')
    const sessions: DemoSession[] = [
      { ...parts, lengthSeconds: 62, delayMinutes: 10 },
      { ...talk, scene: 'bars' },
    ]
    await createDemoLibrary(folder, { signal, plan: [{ name: 'Ada', seed: 1, sessions }] })
    const day = join(folder, 'Ada', '2025-10-04')
    const lengths = await Promise.all(
      ['1.ts', '2.ts'].map(async (name) => {
        const { packets } = await demux(join(day, '0', name))
        return packets.filter(({ track }) => track === 0).length
      }),
    )
    expect(lengths).toEqual([600, 640])
    const info = JSON.parse(await readFile(join(day, '0', '0.info.json'), 'utf8'))
    expect(info).toMatchObject({
      title: expect.stringMatching(/\w/),
      timestamp: Date.parse('2025-10-04T19:40:00Z') / 1000,
    })
    expect(info.chapters).toHaveLength(5)
    const chat = JSON.parse(await readFile(join(day, '0', '0-chat.json'), 'utf8'))
    expect(chat.comments.length).toBeGreaterThan(10)
    const emotes: { name: string; data: string }[] = chat.embeddedData.thirdParty
    for (const { name, data } of emotes) {
      expect(JSON.stringify(chat.comments)).toContain(name)
      expect(imageSize(Buffer.from(data, 'base64'))).toMatchObject({ width: 56, height: 56 })
    }
    const { tracks } = await demux(join(day, '1.mp4'))
    expect(tracks.map(({ codecId }) => codecId)).toEqual([H264, AAC, AAC])
    expect(await readFile(join(day, '1.en.vtt'), 'utf8')).toMatch(
      /^WEBVTT\n\n00:00:01\.000 --> 00:00:05\.000\nGood/,
    )
  })

  it('leaves a complete library alone', async () => {
    const options = { signal, plan: plan(['ts'], BRIEF_SECONDS) }
    await createDemoLibrary(folder, options)
    await rm(join(folder, 'Ada'), { recursive: true })
    expect(await createDemoLibrary(folder, options)).toBe('kept')
    expect(await readdir(folder)).toEqual(['.aftercast-demo'])
  })

  it('refuses a folder that holds anything else', async () => {
    await mkdir(folder)
    await writeFile(join(folder, 'mine.mp4'), 'precious')
    await expect(createDemoLibrary(folder, { signal, plan: plan(['ts']) })).rejects.toMatchObject({
      code: 'usage',
    })
    expect(await readdir(folder)).toEqual(['mine.mp4'])
  })

  it('leaves no files when it is stopped', async () => {
    const stopping = new AbortController()
    const making = createDemoLibrary(folder, {
      signal: stopping.signal,
      plan: plan(['ts', 'mp4', 'mp4', 'ts']),
      onProgress: () => stopping.abort(new Error('stopped')),
    })
    await expect(making).rejects.toThrow('stopped')
    expect(await readdir(parent)).toEqual([])
  })

  it('appears only when it is complete, and starts over after a kill', async () => {
    const program = join(parent, 'make.ts')
    await writeFile(
      program,
      `import { createDemoLibrary } from ${JSON.stringify(join(import.meta.dirname, 'demo-library.ts'))}
       const onProgress = () => process.send('made')
       const { signal } = new AbortController()
       await createDemoLibrary(${JSON.stringify(folder)}, { signal, onProgress, plan: ${JSON.stringify(plan(['ts', 'ts', 'ts', 'ts']))} })`,
    )
    const child = fork(program, [], { execArgv: [] })
    await once(child, 'message')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await readdir(parent)).not.toContain('library')
    const brief = { signal, plan: plan(['ts'], BRIEF_SECONDS) }
    expect(await createDemoLibrary(folder, brief)).toBe('made')
    expect(await readdir(parent)).toContain('library')
    expect((await readdir(folder)).toSorted()).toEqual(['.aftercast-demo', 'Ada'])
  })
})

describe('DEMO_PLAN', () => {
  const sessions = DEMO_PLAN.flatMap((streamer) =>
    streamer.sessions.map((session) => ({ ...session, streamer: streamer.name })),
  )

  it('is lively', () => {
    expect(DEMO_PLAN.length).toBeGreaterThanOrEqual(12)
    expect(sessions.length).toBeGreaterThanOrEqual(40)
    expect(DEMO_PLAN.some(({ name }) => /\p{Script=Han}|\p{Script=Hiragana}/u.test(name))).toBe(
      true,
    )
    expect(sessions.filter((one) => one.lengthSeconds > 3600).map((one) => one.container)).toEqual(
      expect.arrayContaining(['ts', 'mp4']),
    )
  })

  it('names no session twice, and gives whole GOPs', () => {
    const names = sessions.map((one) => `${one.streamer}/${one.date}/${one.sessionId}`)
    expect(new Set(names).size).toBe(names.length)
    expect(sessions.every((one) => one.lengthSeconds % 2 === 0 && one.lengthSeconds >= 30)).toBe(
      true,
    )
  })
})
