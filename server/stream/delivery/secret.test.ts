import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { readOrCreateSecret } from './secret.ts'

let folder: string
let logged: string[]

beforeEach(() => {
  folder = makeTempFolder('secret')
  logged = []
})

const read = () => readOrCreateSecret(folder, (message) => logged.push(message))
const file = () => join(folder, 'hls-secret')

test('creates the secret once, readable by its owner only', async () => {
  const secret = await read()
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  expect(await read()).toBe(secret)
  expect(readdirSync(folder)).toEqual(['hls-secret'])
  expect(logged).toEqual([])
})

test('processes that start at once agree on one secret', async () => {
  expect(new Set(await Promise.all(Array.from({ length: 20 }, read))).size).toBe(1)
})

test.each([
  ['empty', ''],
  ['cut', 'a-prefix-of-a-secret'],
  ['of zeros', '\0'.repeat(43)],
])('replaces a file that is %s, with one line in the log', async (_what, torn) => {
  writeFileSync(file(), torn, { mode: 0o644 })
  const secret = await read()
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  expect(await read()).toBe(secret)
  expect(readdirSync(folder)).toEqual(['hls-secret'])
  expect(logged).toEqual([expect.stringContaining(`${file()} is empty or torn`)])
})

test('keeps a secret that the operator wrote', async () => {
  const own = `${'b64+/='.repeat(8)}\n`
  writeFileSync(file(), own)
  expect(await read()).toBe(own)
  expect(readFileSync(file(), 'utf8')).toBe(own)
})
