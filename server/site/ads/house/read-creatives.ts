// Reads house ads from a folder: creatives.json and the files it names.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError } from '../../../base/errors.ts'
import { parseCreatives } from './creatives.ts'
import type { Creative } from './creatives.ts'

/** The loaded house ads. */
export interface HouseAds {
  folder: string
  creatives: readonly Creative[]
  /** HTML of the creatives that are pages, by id. */
  pages: ReadonlyMap<string, string>
}

const LIST = 'creatives.json'
const MAX_TEXT_BYTES = 512 * 1024
/** Larger pre-rolls would cost more than they earn. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/**
 * The ads in `folder`, or the built-in ones if the folder does not exist.
 *
 * @throws AppError `failed` that names the unusable list or file
 */
export async function readHouseAds(folder: string): Promise<HouseAds> {
  const hasOwn = (await sizeOf(join(folder, LIST))) !== undefined
  return hasOwn ? readCreatives(folder, {}) : readBuiltIn(sourceFile('../creatives'))
}

const textsShape = z.record(z.string(), z.record(z.string(), z.string()))

/** The built-in banners are one page with several texts and colours. */
async function readBuiltIn(folder: string): Promise<HouseAds> {
  const texts: unknown = JSON.parse(await readText(folder, 'banners.json'))
  return readCreatives(folder, textsShape.parse(texts))
}

/** @param texts what replaces `{name}` in the page of a creative, by its id */
async function readCreatives(folder: string, texts: z.infer<typeof textsShape>): Promise<HouseAds> {
  const creatives = parseCreatives(await readText(folder, LIST))
  const pages = new Map<string, string>()
  for (const { id, kind, file } of creatives) {
    if (kind === 'page') pages.set(id, fillPage(await readText(folder, file), texts[id] ?? {}))
    else await requireFile(folder, file, MAX_FILE_BYTES)
  }
  return { folder, creatives, pages }
}

function fillPage(page: string, texts: Record<string, string>): string {
  const mark = /\{(?<name>\w+)\}/g
  return page.replaceAll(mark, (found, name: string) => texts[name] ?? found)
}

async function readText(folder: string, file: string): Promise<string> {
  await requireFile(folder, file, MAX_TEXT_BYTES)
  return readFile(join(folder, file), 'utf8')
}

async function requireFile(folder: string, file: string, maxBytes: number): Promise<void> {
  const sizeBytes = await sizeOf(join(folder, file))
  if (sizeBytes === undefined) throw new AppError('failed', `house ads: no such file: ${file}`)
  if (sizeBytes > maxBytes) throw new AppError('failed', `house ads: ${file} is too large`)
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true ? found.size : undefined
}

/** The script that fills slots with house ads. */
export async function readHouseScript(): Promise<Buffer> {
  return readFile(sourceFile('ad-provider.js'))
}

/**
 * A file of the package by its name in this source folder; when built, this file is in
 * dist/server/site/ads/house.
 */
function sourceFile(name: string): string {
  const here = import.meta.url
  const folder = here.endsWith('.ts') ? './' : '../../../../../server/site/ads/house/'
  return fileURLToPath(new URL(folder + name, here))
}
