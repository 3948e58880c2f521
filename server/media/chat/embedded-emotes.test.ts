// Emotes in chat files: which are read, under which names, in which order, and their limits.
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { embeddedData, twitchJson } from '../../../test/support/make/make-chat.ts'
import type { MadeMessage } from '../../../test/support/make/make-chat.ts'
import type { EmbeddedEmote } from './embedded-emotes.ts'
import { readChat } from './read-chat.ts'
import { TwitchRecords } from './twitch-records.ts'

const messages: MadeMessage[] = [
  {
    seconds: 1,
    user: 'Bob',
    text: 'catJAM catJAM bobWave :)',
    emotes: { bobWave: '25', ':)': '1' },
  },
  { seconds: 2, user: 'Eve', text: 'catJAM "embeddedData": { secretPog' },
]
const image = (text: string): Buffer => Buffer.from(`image of ${text}`)

async function read(
  content: string | Uint8Array,
  { withEmotes = true, hiddenUsers = [] as string[] } = {},
): Promise<EmbeddedEmote[] | undefined> {
  const parts = [{ startSeconds: 0, durationSeconds: 3600 }]
  const files = [{ path: 'chat', version: '1', parts }]
  const job = { files, isGrowing: false, offsetSeconds: 0, hiddenUsers, withEmotes }
  const outcome = await readChat(job, () => Readable.from([Buffer.from(content)]))
  if (outcome.status === 'read') return outcome.emotes
  throw new Error(`refused: ${JSON.stringify(outcome.reason)}`)
}

/** Names and contents, in order. */
async function emotesOf(
  data: object,
  options: Parameters<typeof read>[1] & { key?: string } = {},
): Promise<[string, string][] | undefined> {
  const { key = 'embeddedData', ...rest } = options
  const emotes = await read(twitchJson(messages, { embeddedData: undefined, [key]: data }), rest)
  return emotes?.map(({ name, data: bytes }) => [name, Buffer.from(bytes).toString()])
}

describe('the emotes of a chat', () => {
  it('are those that messages use, by name or id, the most used first', async () => {
    const third = { unused: image('unused'), secretPog: image('pog'), catJAM: image('cat') }
    const first = { 1: image('smile'), 25: image('wave'), 77: image('nobody') }
    const emotes = await emotesOf(embeddedData(third, first))
    expect(emotes?.[0]).toEqual(['catJAM', 'image of cat'])
    expect(new Map(emotes)).toEqual(
      new Map([
        ['catJAM', 'image of cat'],
        ['secretPog', 'image of pog'],
        [':)', 'image of smile'],
        ['bobWave', 'image of wave'],
      ]),
    )
  })

  it('are not read unless they are asked for, nor those of hidden users', async () => {
    const data = embeddedData({ catJAM: image('cat'), secretPog: image('pog') })
    expect(await emotesOf(data, { withEmotes: false })).toBeUndefined()
    expect(await emotesOf(data, { hiddenUsers: ['eve'] })).toEqual([['catJAM', 'image of cat']])
  })

  it('are read from compressed and pretty files, and under an older key', async () => {
    const data = embeddedData({ catJAM: image('cat') })
    const root = JSON.parse(twitchJson(messages, { embeddedData: data }))
    for (const content of [JSON.stringify(root, null, 2), gzipSync(JSON.stringify(root))]) {
      expect((await read(content))?.map(({ name }) => name)).toEqual(['catJAM'])
    }
    expect(await emotesOf(data, { key: 'emotes' })).toEqual([['catJAM', 'image of cat']])
  })

  it('may come before the messages, of which none is read twice', async () => {
    const { comments, ...rest } = JSON.parse(twitchJson(messages))
    const data = embeddedData({ catJAM: image('cat') })
    const text = JSON.stringify({ ...rest, embeddedData: data, comments })
    const records: unknown[] = []
    new TwitchRecords((record) => records.push(record)).add(text)
    const said = records.filter((record) => JSON.stringify(record).includes('"body"'))
    expect(said).toEqual(comments)
  })

  it('have names of one word, and images of at most 256 KiB, of 8 MiB in all', async () => {
    const sized = (sizeBytes: number): Buffer => Buffer.alloc(sizeBytes, 'x')
    const limit = 256 * 1024
    expect(await emotesOf(embeddedData({ catJAM: sized(limit + 1) }))).toEqual([])
    expect(await emotesOf(embeddedData({ catJAM: sized(10 * limit) }))).toEqual([])
    expect((await emotesOf(embeddedData({ catJAM: sized(limit) })))?.[0]?.[1]).toHaveLength(limit)
    expect(await emotesOf(embeddedData({ 'catJAM catJAM': image('cat'), '': image('') }))).toEqual(
      [],
    )
    const names = Array.from({ length: 40 }, (_, nth) => `e${nth}`)
    const used = names.map((text, seconds) => ({ seconds, user: 'Bob', text }))
    const all = embeddedData(Object.fromEntries(names.map((name) => [name, sized(limit)])))
    expect(await read(twitchJson(used, { embeddedData: all }))).toHaveLength(32)
  })

  it('are at most 300', async () => {
    const names = Array.from({ length: 400 }, (_, nth) => `e${nth}`)
    // Later ones are used more often.
    const used = names.map((text, nth) => ({
      seconds: nth,
      user: 'Bob',
      text: `${text} `.repeat(Math.ceil((nth + 1) / 100)),
    }))
    const data = embeddedData(Object.fromEntries(names.map((name) => [name, image(name)])))
    const emotes = await read(twitchJson(used, { embeddedData: data }))
    expect(emotes?.map(({ name }) => name).toSorted()).toEqual(names.slice(100).toSorted())
  })

  it('are never an error, whatever is in place of them', async () => {
    const broken = [
      {
        thirdParty: [
          { id: 1, name: ['catJAM'], data: 5 },
          { name: 'catJAM', data: '%%%' },
          null,
          [],
        ],
      },
      { thirdParty: { name: 'catJAM' }, firstParty: 'x' },
      { firstParty: [{ id: '25', data: { a: 1 } }] },
    ]
    const found = await Promise.all(broken.map(async (data) => emotesOf(data)))
    expect(found).toEqual([[['catJAM', '']], [], []])
    const whole = twitchJson(messages, { embeddedData: embeddedData({ catJAM: image('cat') }) })
    const cut = fc.integer({ min: whole.indexOf('secretPog'), max: whole.length })
    await fc.assert(
      fc.asyncProperty(cut, async (end) => {
        for (const { name } of (await read(whole.slice(0, end))) ?? []) expect(name).toBe('catJAM')
      }),
      { numRuns: 30 },
    )
  })

  it('are the same for any division of the file', () => {
    const data = embeddedData({ catJAM: image('cat') }, { 25: image('wave') })
    const whole = twitchJson(messages, { embeddedData: data })
    const recordsOf = (chunkLength: number): string[] => {
      const records: string[] = []
      const splitter = new TwitchRecords((record) => records.push(JSON.stringify(record)))
      for (let at = 0; at < whole.length; at += chunkLength) {
        splitter.add(whole.slice(at, at + chunkLength))
      }
      splitter.end()
      return records.toSorted()
    }
    const expected = recordsOf(whole.length)
    expect(expected.filter((record) => record.includes('"data"'))).not.toHaveLength(0)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (chunkLength) => {
        expect(recordsOf(chunkLength)).toEqual(expected)
      }),
    )
  })
})
