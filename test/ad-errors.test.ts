// The table of VAST error codes in the documentation agrees with the codes that the page sends.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { VAST_ERROR_CODES } from '../shared/vast-error-codes.ts'
import { errorCases, simpleCauses } from './ad-network/error-cases.ts'

const rows = await readRows()

test('the table has every code of VAST once, in order', () => {
  expect(rows.map(({ code }) => code)).toEqual(VAST_ERROR_CODES)
})

test('the table has a cause for exactly the codes that the browser tests cause', () => {
  const sent = rows.filter(({ cause }) => !cause.startsWith('not sent')).map(({ code }) => code)
  expect(sent).toEqual(Object.keys(errorCases).map(Number))
})

test('every code has a cause in the browser, and each cause has a name of its own', () => {
  const cases = Object.values(errorCases)
  expect(cases.every((ofCode) => ofCode.some(({ cause }) => !simpleCauses.has(cause)))).toBe(true)
  const causes = cases.flat().map(({ cause }) => cause)
  expect(new Set(causes).size).toBe(causes.length)
})

async function readRows(): Promise<{ code: number; cause: string }[]> {
  const text = await readFile(new URL('../docs/advertising.md', import.meta.url), 'utf8')
  const found = text.matchAll(/^\| (?<code>\d{3})\s+\| [^|]+ \| (?<cause>[^|]+?)\s+\|$/gm)
  return [...found].map(({ groups }) => ({
    code: Number(groups?.['code']),
    cause: groups?.['cause'] ?? '',
  }))
}
