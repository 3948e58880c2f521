// Reads the built page from dist/web: its HTML shell and the names of its scripts.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../../base/errors.ts'
import { parsePageShell } from './page-shell.ts'
import type { PageShell } from './page-shell.ts'

/** The built page, ready to be served. */
export interface BuiltPage {
  shell: PageShell
  folder: string
  /** Scripts and styles of this release, then those of all releases. */
  assetsFolders: string[]
  /** Icons, at the root because browsers and crawlers expect them there. */
  rootFiles: readonly string[]
  /** The web manifest. */
  manifest: object
  /** Path of the script that player pages run before all others. */
  firstScript: string
  /** Paths of the scripts that the first frame of a session needs. */
  playerScripts: readonly string[]
  /** The page of the embedded player, built apart. */
  embed: Pick<BuiltPage, 'shell' | 'playerScripts'>
}

/** The other chunks of the player page load after the first frame. */
const PLAYER_SOURCE = 'player/engine/hls-engine.ts'

const MANIFEST_FILE = 'manifest.webmanifest'
/** Not served as files: their content depends on the route or on the configuration. */
const TEMPLATES = ['index.html', 'embed.html', MANIFEST_FILE]

const webManifestShape = z.record(z.string(), z.unknown())

const manifestShape = z.record(
  z.string(),
  z.object({
    file: z.string(),
    isEntry: z.boolean().optional(),
    /** Keys of the chunks that it imports. */
    imports: z.array(z.string()).optional(),
  }),
)
type Manifest = z.infer<typeof manifestShape>

/**
 * @param allAssets the folder with the assets of all releases
 * @throws AppError `failed` if the page was not built
 */
export async function readBuiltPage(folder: string, allAssets: string): Promise<BuiltPage> {
  try {
    const webManifest = await readFile(join(folder, MANIFEST_FILE), 'utf8')
    return {
      ...(await readTemplate(folder, 'index.html', 'manifest.json')),
      embed: await readTemplate(folder, 'embed.html', 'embed-manifest.json'),
      firstScript: await readFirstScript(folder),
      folder,
      assetsFolders: [join(folder, 'assets'), allAssets],
      rootFiles: await listRootFiles(folder),
      manifest: webManifestShape.parse(JSON.parse(webManifest)),
    }
  } catch (cause) {
    throw new AppError('failed', 'the page is not built: run npm run build', { cause })
  }
}

/** A page and its list of chunks. */
async function readTemplate(
  folder: string,
  name: string,
  list: string,
): Promise<BuiltPage['embed']> {
  const html = await readFile(join(folder, name), 'utf8')
  const styles = await readStyles(folder, html)
  return {
    shell: parsePageShell(html, (href) => styles.get(href) ?? ''),
    playerScripts: listScripts(await readManifest(folder, list), PLAYER_SOURCE),
  }
}

async function readFirstScript(folder: string): Promise<string> {
  const [entry] = Object.values(await readManifest(folder, 'first-files-manifest.json'))
  if (entry === undefined) throw new Error('the first script is not built')
  return `/${entry.file}`
}

async function readManifest(folder: string, name: string): Promise<Manifest> {
  return manifestShape.parse(JSON.parse(await readFile(join(folder, '.vite', name), 'utf8')))
}

/** Paths of a chunk and of those that it imports, except the entry. */
function listScripts(manifest: Manifest, key: string): string[] {
  const chunk = manifest[key]
  if (chunk === undefined || chunk.isEntry) return []
  const { file, imports = [] } = chunk
  return [`/${file}`, ...imports.flatMap((imported) => listScripts(manifest, imported))]
}

async function listRootFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  return names.filter((name) => !TEMPLATES.includes(name) && !name.startsWith('.'))
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
