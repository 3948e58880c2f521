import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { banners } from './house-ads.ts'
import { formatBanner } from './house-banner.ts'

it.each(banners)('writes the banner $id that is committed', async (banner) => {
  const folder = path.join(import.meta.dirname, '../server/site/ads/creatives')
  expect(formatBanner(banner)).toBe(await readFile(path.join(folder, `${banner.id}.html`), 'utf8'))
})
