// Reads the built page from dist/web: its HTML shell and the names of its scripts.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { parsePageShell } from './page-shell.ts'
import type { PageShell } from './page-shell.ts'

/** The built page, ready to be served. */
export interface BuiltPage {
  shell: PageShell
  assetsFolder: string
  /** Paths of the scripts that only the player needs. */
  playerScripts: readonly string[]
}

const manifestShape = z.record(
  z.string(),
  z.object({ file: z.string(), isDynamicEntry: z.boolean().optional() }),
)

/** @throws AppError `failed` if the page was not built */
export async function readBuiltPage(folder: string): Promise<BuiltPage> {
  try {
    const html = await readFile(join(folder, 'index.html'), 'utf8')
    const manifest = manifestShape.parse(
      JSON.parse(await readFile(join(folder, '.vite/manifest.json'), 'utf8')),
    )
    const styles = await readStyles(folder, html)
    return {
      shell: parsePageShell(html, (href) => styles.get(href) ?? ''),
      assetsFolder: join(folder, 'assets'),
      playerScripts: Object.entries(manifest)
        .filter(([source, { isDynamicEntry }]) => isDynamicEntry && source.startsWith('player/'))
        .map(([, { file }]) => `/${file}`),
    }
  } catch (cause) {
    throw new AppError('failed', 'the page is not built: run npm run build', { cause })
  }
}

async function readStyles(folder: string, html: string): Promise<Map<string, string>> {
  const hrefs = [...html.matchAll(/href="(?<href>\/assets\/[\w.-]+\.css)"/g)].flatMap(
    ({ groups }) => groups?.href ?? [],
  )
  return new Map(
    await Promise.all(
      hrefs.map(async (href): Promise<[string, string]> => [
        href,
        await readFile(join(folder, href), 'utf8'),
      ]),
    ),
  )
}
