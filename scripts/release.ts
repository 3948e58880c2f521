// `npm run release`: makes the files of the version in package.json, and refuses what is not ready.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const root = path.dirname(import.meta.dirname)
const FOLDER = 'release'

/** Of the commit that would be released. */
export interface Checkout {
  /** Output of `git status --porcelain`. */
  status: string
  /** Of other commits. */
  tags: readonly string[]
  /** The whole document. */
  changelog: string
}

/** Why this commit cannot be released as this version; empty if it can. */
export function findObstacles(version: string, { status, tags, changelog }: Checkout): string[] {
  return [
    ...(status === '' ? [] : ['the working tree has changes that are not committed']),
    ...(tags.includes(`v${version}`) ? [`v${version} is released: set another version`] : []),
    ...(notesOf(version, changelog) === '' ? [`CHANGELOG.md says nothing about ${version}`] : []),
  ]
}

/** What the changelog says about a version, without its heading; '' without one. */
export function notesOf(version: string, changelog: string): string {
  const lines = changelog.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`## [${version}] - `))
  if (start === -1) return ''
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  return lines
    .slice(start + 1, length === -1 ? undefined : start + 1 + length)
    .join('\n')
    .trim()
}

function run(program: string, args: string[]): string {
  return execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  })
}

const packedShape = z.tuple([z.object({ filename: z.string(), integrity: z.string() })])

/** The same commit gives the same bytes. */
function pack(folder: string): string {
  const make = (): z.infer<typeof packedShape>[0] => {
    const args = ['pack', '--silent', '--json', '--pack-destination', folder]
    return packedShape.parse(JSON.parse(run('npm', args)))[0]
  }
  const [first, second] = [make(), make()]
  if (first.integrity !== second.integrity) throw new Error('npm pack gave two archives')
  return first.filename
}

function release(): void {
  const manifest: unknown = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const { version } = z.object({ version: z.string() }).parse(manifest)
  const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')
  const obstacles = findObstacles(version, {
    status: run('git', ['status', '--porcelain']),
    // Not that of this commit.
    tags: run('git', ['tag', '--list', '--no-contains', 'HEAD']).split('\n'),
    changelog,
  })
  if (obstacles.length > 0) throw new Error(obstacles.join('; '))
  execFileSync('npm', ['test'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CI: 'true' },
  })
  const folder = path.join(root, FOLDER)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const archive = pack(folder)
  writeFileSync(path.join(folder, 'sbom.json'), run('npm', ['run', '--silent', 'sbom']))
  writeFileSync(path.join(folder, 'notes.md'), `${notesOf(version, changelog)}\n`)
  const sums = [archive, 'sbom.json'].map((name) => {
    const bytes = readFileSync(path.join(folder, name))
    return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`
  })
  writeFileSync(path.join(folder, 'SHA256SUMS'), sums.join(''))
  console.log(`${FOLDER}/ has ${archive}, sbom.json, notes.md and SHA256SUMS; tag it v${version}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    release()
  } catch (error) {
    console.error(`release: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
