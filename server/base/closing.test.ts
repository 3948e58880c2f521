import Sqlite from 'better-sqlite3'
import { open } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { closing, closingAsync } from './closing.ts'

test('a file is closed at the end of the block, after the result was read', async () => {
  const file = await open(import.meta.filename)
  const read = async () => {
    await using _closing = closingAsync(file)
    return await file.read(Buffer.alloc(6), 0, 6, 0)
  }
  const { buffer } = await read()
  expect(buffer.toString()).toBe('import')
  await expect(file.stat()).rejects.toThrow('closed')
})

test('a file is closed where the block fails, with the error of the block', async () => {
  const file = await open(import.meta.filename)
  const fail = async () => {
    await using _closing = closingAsync(file)
    throw new Error('unreadable')
  }
  await expect(fail()).rejects.toThrow('unreadable')
  await expect(file.stat()).rejects.toThrow('closed')
})

test('a database is closed at the end of the block, also where it fails', () => {
  const database = new Sqlite(':memory:')
  const fail = () => {
    using _closing = closing(database)
    throw new Error('unreadable')
  }
  expect(fail).toThrow('unreadable')
  expect(database.open).toBe(false)
})
