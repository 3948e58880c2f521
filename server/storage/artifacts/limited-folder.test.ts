import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { LimitedFolder } from './limited-folder.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let folder: string

beforeEach(async () => {
  folder = makeTempFolder('limited')
})

describe('LimitedFolder', () => {
  const bytes = Buffer.alloc(1000, 1)
  /** Five files in each of the 256 subfolders. */
  const maxBytes = 256 * 5000
  const name = (number: number) => `00/${`${number}`.padStart(2, '0')}`
  const pathOf = (file: string) => join(folder, file)

  it('evicts the least recently used beyond the share of a subfolder', async () => {
    const cache = new LimitedFolder({ folder, maxBytes })
    for (let number = 0; number < 5; number++) {
      await cache.write(name(number), bytes)
      // Long ago: the read notes a later use.
      await utimes(pathOf(name(number)), 1e9, 1e9 + number)
    }
    await cache.read(name(0))
    await cache.write(name(5), bytes)
    expect(await cache.read(name(0))).toMatchObject({ modifiedMs: 1e12 })
    expect(await cache.read(name(1))).toBeUndefined()
    expect(await cache.read(name(5))).toBeDefined()
    await cache.write('00/06', Buffer.alloc(5001))
    expect(await cache.read('00/06')).toBeUndefined()
  })

  it('holds its limit over all processes', async () => {
    const small = 256 * bytes.length
    const workers = Array.from({ length: 4 }, () => new LimitedFolder({ folder, maxBytes: small }))
    await Promise.all(
      workers.map(async (cache, worker) => {
        for (let number = 0; number < 80; number++) {
          await cache.write(`${number.toString(16).padStart(2, '0')}/${worker}`, bytes)
        }
      }),
    )
    const files = await readdir(folder, { recursive: true, withFileTypes: true })
    const stored = files.filter((file) => file.isFile())
    expect(stored.length * bytes.length).toBeLessThanOrEqual(small)
    expect(stored.length).toBeGreaterThan(0)
  })

  it('counts the files of an earlier run, and removes its temporary files', async () => {
    const first = new LimitedFolder({ folder, maxBytes: 2 * maxBytes })
    for (let number = 0; number < 10; number++) await first.write(name(number), bytes)
    const leftOver = join(folder, '00', 'abcd.1.tmp')
    const underWay = join(folder, '00', 'abcd.2.tmp')
    await writeFile(leftOver, 'half')
    await utimes(leftOver, 1e9, 1e9)
    await writeFile(underWay, 'half')
    const second = new LimitedFolder({ folder, maxBytes })
    await second.write(name(11), bytes)
    const names = await readdir(join(folder, '00'))
    expect(names.filter((each) => each.endsWith('.tmp'))).toEqual(['abcd.2.tmp'])
    expect(names.length).toBe(6)
  })
})
