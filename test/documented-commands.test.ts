// Runs the shell commands of all documents as they are written: in this clone and with the places
// of the documents in a temporary folder. Blocks with a mark are run elsewhere, or not at all.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { listFences, listShellBlocks } from '../scripts/shell-blocks.ts'
import { loadConfig } from '../server/base/config/load-config.ts'
import { DEMO_MARKER } from '../server/demo/demo-library.ts'
import { patienceMs } from './support/patience.ts'
import { PROGRAM } from './support/servers/run-program.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const root = path.dirname(import.meta.dirname)
const exclude = (name: string): boolean => /^(?:node_modules|dist|\..*)$/.test(name)
const NAMES = globSync('**/*.md', { cwd: root, exclude })
const DOCUMENTS = NAMES.map((name) => ({ name, blocks: blocksOf(name) })).filter(
  ({ blocks }) => blocks.length > 0,
)
/** Configuration files in documents. */
const CONFIGURATIONS = NAMES.flatMap((name) =>
  listFences(readDocument(name))
    .filter(({ language, commands }) => language === 'json' && !commands.includes('"creatives"'))
    .map(({ line, commands }) => ({ name, line, text: commands })),
)
/** Documents whose commands are for a site that has run before. */
const OF_RUNNING_SITES = ['docs/analytics.md', 'docs/deploy/upgrade.md', 'docs/operations.md']
/** The time is that of the archive in docs/operations.md. */
const PROGRAMS = {
  aftercast: `exec "${process.execPath}" "${PROGRAM}" "$@"`,
  date: 'echo 2026-01-31',
}
const READY = /^Aftercast is ready at (?<url>http:\/\/\S+)$/m
/** Lines that set variables, and no command. */
const SETTINGS = /^(?:(?:export )?(?:[A-Z_0-9]+=(?:'[^']*'|[^\s'#]*)\s*)+(?:#.*)?\n?)+$/

function readDocument(name: string): string {
  return readFileSync(path.join(root, name), 'utf8')
}

function blocksOf(name: string) {
  return listShellBlocks(readDocument(name))
    .filter(({ runBy, notRun }) => runBy === undefined && notRun === undefined)
    .map(({ line, commands }) => ({ line, commands }))
}

let library: TempLibrary
let environment: NodeJS.ProcessEnv

/** With the data of a site that has run, or without. */
async function createSite(hasRun: boolean): Promise<void> {
  library = await createTempLibrary('documented')
  await library.place('alice/2026-01-31/1001.mp4', SMALL_FIXTURE)
  await library.place('2026-01-31 20-15-07.mp4', SMALL_FIXTURE)
  // By default, aftercast-data in the working folder.
  const data = hasRun ? library.data : path.join(library.folder, 'aftercast-data')
  await makeDemoLibrary(data)
  const programs = await createPrograms()
  await mkdir(path.join(library.folder, 'backup'))
  environment = {
    ...process.env,
    PATH: [programs, path.dirname(process.execPath), process.env.PATH].join(path.delimiter),
    PORT: '0',
    AFTERCAST_DATA: data,
    AFTERCAST_WORKERS: '1',
    // Commands of git change a repository of their own.
    GIT_DIR: path.join(library.folder, 'git'),
  }
  await runCommands('git init --quiet')
  if (hasRun) await runCommands('aftercast scan /srv/recordings --data /var/lib/aftercast')
}

/** Complete, so that a server does not spend a quarter of a minute on it. */
async function makeDemoLibrary(data: string): Promise<void> {
  const demo = path.join(data, 'demo-library')
  await mkdir(demo, { recursive: true })
  await writeFile(path.join(demo, DEMO_MARKER.name), DEMO_MARKER.version)
  await symlink(library.pathOf('alice'), path.join(demo, 'alice'))
}

async function createPrograms(): Promise<string> {
  const folder = path.join(library.folder, 'bin')
  await mkdir(folder)
  for (const [name, line] of Object.entries(PROGRAMS)) {
    const file = path.join(folder, name)
    await writeFile(file, `#!/bin/sh\n${line}\n`)
    await chmod(file, 0o755)
  }
  return folder
}

/** The places of the documents are those of the test, and servers have a free port of loopback. */
function place(commands: string): string {
  const places: Record<string, string> = {
    '/srv/recordings': library.recordings,
    '/var/lib/aftercast': library.data,
    '/backup': path.join(library.folder, 'backup'),
    '--port 8080': '--port 0',
    '0.0.0.0': '127.0.0.1',
  }
  const named = /\/srv\/recordings|\/var\/lib\/aftercast|\/backup|--port 8080|0\.0\.0\.0/g
  return commands.replaceAll(named, (name) => places[name] ?? name)
}

interface Outcome {
  /** The exit code is 0, or a server has answered. */
  hasSucceeded: boolean
  output: string
}

/** Runs commands until they end, or until their server has answered. */
async function runCommands(commands: string): Promise<Outcome> {
  const script = ['-e', '-c', place(commands)]
  // A group of its own, which ends with the server.
  const shell = spawn('sh', script, { cwd: root, env: environment, detached: true })
  const ready = Promise.withResolvers<string>()
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const url = READY.exec(output)?.groups?.url
      if (url !== undefined) ready.resolve(url)
    })
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    shell.once('error', reject).once('close', resolve)
  })
  const tooLate = setTimeout(() => endGroup(shell), patienceMs)
  try {
    const hasSucceeded = await Promise.race([
      ended.then((code) => code === 0),
      ready.promise.then(async (url) => (await fetch(url)).ok),
    ])
    return { hasSucceeded, output }
  } finally {
    clearTimeout(tooLate)
    endGroup(shell)
    await ended
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGTERM')
  } catch {
    // All of it has ended.
  }
}

/** Commands that only set variables must be a configuration. */
async function readSettings(commands: string): Promise<Outcome> {
  const quoted = commands.replaceAll("'", `'\\''`)
  const { output } = await runCommands(`env -i sh -a -c '${quoted}\nenv'`)
  const set = Object.fromEntries(
    [...output.matchAll(/^(?<name>[A-Z_0-9]+)=(?<value>.*)$/gm)].map(({ groups }) => [
      groups?.name ?? '',
      groups?.value,
    ]),
  )
  loadConfig({ flags: {}, environment: set, workingFolder: root, cpuCount: 1 })
  const documented = readDocument('.env.example')
  const own = Object.keys(set).filter((name) => name.startsWith('AFTERCAST_'))
  const isKnown = own.every((name) => documented.includes(`# ${name}=`))
  return { hasSucceeded: own.length > 0 && isKnown, output }
}

it('finds the documents', () => {
  expect(DOCUMENTS.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/deploy/README.md']),
  )
})

it.each(CONFIGURATIONS)('$name:$line is a configuration', ({ text }) => {
  const file = {
    path: path.join(root, 'aftercast.config.json'),
    value: JSON.parse(text) as unknown,
  }
  expect(() =>
    loadConfig({ flags: {}, environment: {}, file, workingFolder: root, cpuCount: 1 }),
  ).not.toThrow()
})

describe.each(DOCUMENTS)('$name', ({ name, blocks }) => {
  beforeAll(() => createSite(OF_RUNNING_SITES.includes(name)))

  it.each(blocks)('$line: $commands', async ({ commands }) => {
    const act = SETTINGS.test(commands) ? readSettings : runCommands
    expect(await act(commands)).toMatchObject({ hasSucceeded: true })
  })
})
