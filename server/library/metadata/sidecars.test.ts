import { mkdir, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAdmission } from '../../base/admission/limits.ts'
import { FolderStorage } from '../../storage/recordings/folder/folder-storage.ts'
import { MAX_SIDECAR_BYTES } from './parsed-files.ts'
import { Sidecars } from './sidecars.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

const { signal } = new AbortController()
const vtt = (title: string): string => `WEBVTT\n\n00:01.000 --> 00:02.000\n${title}\n`
const nfo = '<movie><title>Nfo</title><plot>Plot</plot></movie>'

let root: string
let warnings: object[]

beforeEach(async () => {
  root = makeTempFolder('sidecars')
  warnings = []
})

async function place(name: string, content: string): Promise<void> {
  const target = path.join(root, name)
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, content)
}

/** Of a process that has read nothing yet. */
function createSidecars(): Sidecars {
  const gate = createAdmission().sidecars
  const log = { warn: (fields: object) => void warnings.push(fields) }
  return new Sidecars({ storage: new FolderStorage(root, {}), gate, log })
}

const ofFile = async (name: string) =>
  createSidecars().session({ path: name, kind: 'file' }, signal)
const ofFolder = async (name: string) =>
  createSidecars().session({ path: name, kind: 'folder' }, signal)

describe('Sidecars', () => {
  it('has nothing of a recording without sidecars', async () => {
    await place('alice/1.ts', '')
    expect(await ofFile('alice/1.ts')).toEqual({ chapters: [] })
    expect(await ofFolder('alice')).toEqual({ chapters: [] })
    expect(await createSidecars().streamer('alice', signal)).toEqual({})
  })

  it.each(['1.ts', '1.mp4.part', '1.tmp.ts'])('finds those of %s by its name', async (name) => {
    await place('alice/1.info.json', '{"title":"Info"}')
    expect(await ofFile(`alice/${name}`)).toEqual({ title: 'Info', chapters: [] })
  })

  it('prefers .info.json for text, and .chapters.vtt for chapters', async () => {
    const chapters = [{ start_time: 0, title: 'Info' }]
    await place('1.nfo', nfo)
    await place('1.info.json', JSON.stringify({ title: 'Info', chapters }))
    expect(await ofFile('1.ts')).toEqual({
      title: 'Info',
      description: 'Plot',
      chapters: [{ startSeconds: 0, title: 'Info' }],
    })
    await place('1.chapters.vtt', vtt('Vtt'))
    expect(await ofFile('1.ts')).toMatchObject({ title: 'Info', chapters: [{ title: 'Vtt' }] })
    await place('1.chapters.vtt', 'WEBVTT\n')
    await place('1.info.json', '{"title":"Info"')
    expect(await ofFile('1.ts')).toEqual({ title: 'Nfo', description: 'Plot', chapters: [] })
  })

  it('finds those of a folder in it, else those of its first part', async () => {
    await place('alice/late/part2.ts', 'x')
    await place('alice/late/part10.ts', 'x')
    await place('alice/late/part2.info.json', '{"title":"Part"}')
    await place('alice/late/part2.chapters.vtt', vtt('Part'))
    await place('alice/late/part10.nfo', nfo)
    expect(await ofFolder('alice/late')).toMatchObject({
      title: 'Part',
      chapters: [{ title: 'Part' }],
    })
    await place('alice/late/late.info.json', '{"title":"Folder"}')
    expect(await ofFolder('alice/late')).toMatchObject({
      title: 'Folder',
      chapters: [{ title: 'Part' }],
    })
  })

  it('ignores a file that is too large', async () => {
    const text = '{"title":"Large"}'
    await place('1.info.json', text.padEnd(MAX_SIDECAR_BYTES))
    expect(await ofFile('1.ts')).toEqual({ title: 'Large', chapters: [] })
    await place('1.info.json', text.padEnd(MAX_SIDECAR_BYTES + 1))
    expect(await ofFile('1.ts')).toEqual({ chapters: [] })
  })

  it('ignores a sidecar that is a folder, and an empty one', async () => {
    await mkdir(path.join(root, '1.nfo'))
    await place('1.info.json', '')
    expect(await ofFile('1.ts')).toEqual({ chapters: [] })
    await truncate(path.join(root, '1.info.json'), 100)
    expect(await ofFile('1.ts')).toEqual({ chapters: [] })
    expect(warnings).toEqual([])
  })

  it('returns one result for two seconds, and parses a version of a file once', async () => {
    const sidecars = createSidecars()
    await place('1.info.json', '{"title":"Info"}')
    const source = { path: '1.ts', kind: 'file' } as const
    const first = await sidecars.session(source, signal)
    expect(await sidecars.session(source, signal)).toBe(first)
  })

  it('has the profile of a streamer', async () => {
    await place('alice/streamer.json', '{"displayName":"Alice"}')
    expect(await createSidecars().streamer('alice', signal)).toEqual({ displayName: 'Alice' })
  })
})
