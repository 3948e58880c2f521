import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { findFreePort } from './free-port.ts'
import { startProxy } from './start-proxy.ts'

const FAILS = `console.error('no such directive'); process.exitCode = 1`

it.each([
  ['ends', process.execPath, 'no such directive'],
  ['does not exist', '/nowhere/proxy', 'ENOENT'],
])('a proxy that %s is reported, and its folder is removed', async (_, program, reason) => {
  let configured = ''
  const started = startProxy({
    program,
    debianPackage: 'proxy',
    url: `http://127.0.0.1:${await findFreePort()}`,
    async configure(folder) {
      configured = folder
      const file = path.join(folder, 'proxy.mjs')
      await writeFile(file, FAILS)
      return [file]
    },
  })
  await expect(started).rejects.toThrow(reason)
  expect([path.basename(configured), existsSync(configured)]).toEqual([
    expect.stringContaining(path.basename(program)),
    false,
  ])
})

it('a proxy that is not installed is reported with its package', async () => {
  const url = 'http://127.0.0.1:1'
  const started = startProxy({
    program: undefined,
    debianPackage: 'proxy',
    url,
    configure: async () => [],
  })
  await expect(started).rejects.toThrow('apt-get install proxy')
})
