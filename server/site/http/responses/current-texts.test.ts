import { expect, it } from 'vitest'
import { CurrentTexts } from './current-texts.ts'
import { TextResponse } from './text-response.ts'

function textOf(body: string): TextResponse {
  return new TextResponse(body, {
    contentType: 'text/plain',
    cacheControl: 'no-cache',
    headers: {},
  })
}

it('stores one response of each name, whatever number of versions it has', () => {
  const texts = new CurrentTexts(1_000_000)
  const first = texts.find('a', '0', () => textOf('0'))
  const sizeBytes = texts.sizeBytes
  expect(texts.find('a', '0', () => expect.unreachable())).toBe(first)
  for (let version = 1; version <= 1000; version += 1)
    texts.find('a', String(version), () => textOf('x'))
  expect(texts.sizeBytes).toBe(sizeBytes)
  expect(texts.find('b', '0', () => textOf('0'))).not.toBe(first)
  expect(texts.sizeBytes).toBe(2 * sizeBytes)
})

it('evicts the name that was not requested for the longest time', () => {
  const texts = new CurrentTexts(3 * textOf('0').memoryBytes)
  for (const name of ['a', 'b', 'c', 'a', 'd']) texts.find(name, '0', () => textOf('0'))
  const created: string[] = []
  for (const name of ['a', 'c', 'd', 'b']) {
    texts.find(name, '0', () => {
      created.push(name)
      return textOf('0')
    })
  }
  expect(created).toEqual(['b'])
})
