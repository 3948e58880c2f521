// Titles of sessions in lists, over real folders, real sidecars and a real database.
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { soon } from '../../../../test/support/patience.ts'
import { createAdmission } from '../../../base/admission/limits.ts'
import { AppError } from '../../../base/errors.ts'
import { Sidecars } from '../../metadata/sidecars.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import type { Catalog } from '../catalog.ts'
import { createLayout } from '../names/layout.ts'
import { CatalogWriter } from '../store/catalog-writer.ts'
import type { Database } from '../store/database.ts'
import { Scanner } from './scan.ts'
import type { ScannerOptions, ScanProblem } from './scan.ts'
import type { ReadTitle } from './title-reader.ts'
import { createTempCatalog } from '../../../../test/support/temp-catalog.ts'
import type { TempCatalog } from '../../../../test/support/temp-catalog.ts'

let root: string
let database: Database
let catalog: Catalog
let put: TempCatalog['put']
let problems: ScanProblem[]
/** Paths of the recordings whose sidecars were read. */
let read: string[]
let inspections: number
let readTitle: ReadTitle

beforeEach(() => {
  ;({ root, database, catalog, put } = createTempCatalog('titles'))
  problems = []
  read = []
  inspections = 0
  const storage = new FolderStorage(root)
  const log = { warn: () => undefined }
  const sidecars = new Sidecars({ storage, gate: createAdmission().sidecars, log })
  readTitle = async (recording, signal) => {
    read.push(recording.path)
    return sidecars.readTitle(recording, signal)
  }
})

function scanner(options: Partial<ScannerOptions> = {}): Scanner {
  return new Scanner({
    storage: new FolderStorage(root),
    layout: createLayout('{streamer}/{date}/{sessionId}'),
    writer: new CatalogWriter(database),
    inspect: async () => {
      inspections += 1
      return { status: 'playable', durationSeconds: 60, isFlawed: false }
    },
    readTitle,
    settleSeconds: 0,
    onProblem: (problem) => problems.push(problem),
    ...options,
  })
}

const scan = async (options: Partial<ScannerOptions> = {}): Promise<void> =>
  scanner(options).scanOnce(new AbortController().signal)

const titled = (title: string): string => JSON.stringify({ title, timestamp: 1_769_890_500 })
const titles = (): unknown =>
  catalog.listDetails('alice')?.map(({ sessionId, title }) => [sessionId, title])

describe('titles', () => {
  test('are those of sidecars, with their start', async () => {
    put('alice/2026-01-31/1.mp4')
    put('alice/2026-01-31/1.info.json', titled('One'))
    put('alice/2026-01-31/2.mp4')
    put('alice/2026-01-31/3.mp4')
    put('alice/2026-01-31/3.nfo', '<movie><title>Three</title></movie>')
    await scan()
    expect(titles()).toEqual([
      ['3', 'Three'],
      ['2', undefined],
      ['1', 'One'],
    ])
    expect(catalog.listDetails('alice')?.at(-1)?.startMs).toBe(1_769_890_500_000)
    const session = { streamer: 'alice', date: '2026-01-31', sessionId: '3' }
    expect(catalog.findSession(session)).toMatchObject({ title: 'Three' })
    expect(catalog.neighbours({ ...session, sessionId: '2' })).toMatchObject({
      previous: { title: 'One' },
      next: { title: 'Three' },
    })
  })

  test('are read once for each version, newest first, without an inspection', async () => {
    put('alice/2026-01-30/1.mp4')
    put('alice/2026-01-30/1.info.json', titled('One'))
    put('alice/2026-01-31/2.mp4')
    put('alice/2026-01-31/2.info.json', titled('Two'))
    put('alice/2026-02-01/3.mp4')
    await scan()
    expect(read).toEqual(['alice/2026-01-31/2.mp4', 'alice/2026-01-30/1.mp4'])
    const generation = catalog.generation()
    await scan()
    expect(read).toHaveLength(2)
    expect(catalog.generation()).toBe(generation)
    put('alice/2026-01-30/1.info.json', titled('Changed'))
    await scan()
    expect(read.slice(2)).toEqual(['alice/2026-01-30/1.mp4'])
    expect(titles()).toEqual([
      ['3', undefined],
      ['2', 'Two'],
      ['1', 'Changed'],
    ])
    unlinkSync(join(root, 'alice/2026-01-30/1.info.json'))
    await scan()
    expect(titles()).toEqual([
      ['3', undefined],
      ['2', 'Two'],
      ['1', undefined],
    ])
    expect(inspections).toBe(3)
  })

  test('of a changed recording stay, and a broken sidecar has none', async () => {
    put('alice/2026-01-31/1.mp4')
    put('alice/2026-01-31/1.info.json', titled('One'))
    await scan()
    put('alice/2026-01-31/1.mp4', 'longer')
    put('alice/2026-01-31/2.mp4')
    put('alice/2026-01-31/2.info.json', '{"title":"Two"')
    await scan()
    expect(titles()).toEqual([
      ['2', undefined],
      ['1', 'One'],
    ])
    expect(read).toHaveLength(2)
  })

  test('of a session folder are those in it, else of its first part', async () => {
    const folder = 'alice/2026-01-31/late'
    put(`${folder}/2.mp4`)
    put(`${folder}/10.mp4`)
    put(`${folder}/1.mp4`, '')
    put(`${folder}/2.nfo`, '<movie><title>Part</title></movie>')
    await scan()
    expect(titles()).toEqual([['late', 'Part']])
    put(`${folder}/late.info.json`, titled('Folder'))
    await scan()
    expect(titles()).toEqual([['late', 'Folder']])
    put('alice/2026-01-31/list/playlist.m3u8', '#EXTM3U')
    put('alice/2026-01-31/list/list.info.json', titled('List'))
    await scan()
    expect(titles()).toEqual([
      ['list', 'List'],
      ['late', 'Folder'],
    ])
    const count = read.length
    await scan()
    expect(read).toHaveLength(count)
  })

  test('are read again if a file changed after the walk, or storage is unavailable', async () => {
    put('alice/2026-01-31/1.mp4')
    put('alice/2026-01-31/1.info.json', titled('One'))
    const unavailable: ReadTitle = async () => {
      throw new AppError('busy', 'the store is unavailable')
    }
    await scan({ readTitle: unavailable })
    expect(problems).toMatchObject([{ kind: 'sidecar', path: 'alice/2026-01-31/1.mp4' }])
    const changed: ReadTitle = async (recording, signal) => ({
      ...(await readTitle(recording, signal)),
      sidecars: 'of another version',
    })
    await scan({ readTitle: changed })
    expect(read).toHaveLength(1)
    await scan()
    await scan()
    expect(read).toHaveLength(2)
    expect(titles()).toEqual([['1', 'One']])
  })

  test('follow changes while the scanner runs', async () => {
    put('alice/2026-01-31/1.mp4')
    const stop = new AbortController()
    const running = scanner().run(stop.signal)
    onTestFinished(async () => {
      stop.abort()
      await running
    })
    await expect.poll(titles, soon).toEqual([['1', undefined]])
    put('alice/2026-01-31/1.info.json', titled('One'))
    await expect.poll(titles, soon).toEqual([['1', 'One']])
    put('alice/2026-01-31/1.info.json', titled('Two'))
    await expect.poll(titles, soon).toEqual([['1', 'Two']])
  })
})
