// The package that npm publishes: its files, and the program as installed with only production
// dependencies, without the decoders.
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, rename, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { npm, npmProgram } from '../scripts/prepare.mjs'
import { findProgram } from '../scripts/programs.mjs'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { makeTempFolder } from './support/temp-folder.ts'

const root = path.dirname(import.meta.dirname)
const run = promisify(execFile)
/** Audio that browsers play, and audio that is transcoded. */
const AAC = 'mp4-h264-aac-editlist-video-starts-1s.mp4'
const MP3 = 'mp4-h264-mp3.mp4'
const MAX_UNPACKED_BYTES = 8e6
/** Names of documents in messages and comments. */
const DOCUMENT = /(?<![\w/.-])(?<target>docs\/[\w/-]+(?:\.\w+)?)/g

const manifest = z
  .object({
    bin: z.object({ aftercast: z.string() }),
    dependencies: z.record(z.string(), z.string()),
    peerDependenciesMeta: z.object({ 'node-av': z.object({ optional: z.literal(true) }) }),
  })
  .parse(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')))

const packed = z.array(
  z.object({
    filename: z.string(),
    integrity: z.string(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string() })),
  }),
)

let folder: string
let archive: z.infer<typeof packed>[number]
let program: string
let library: TempLibrary

beforeAll(async () => {
  if (isOutdated()) await npm(['run', '--silent', 'build:server'])
  folder = makeTempFolder('package')
  archive = await pack(folder)
  program = await install()
  library = await createTempLibrary('package')
  await library.place('alice/2026-01-31/1001.mp4', AAC)
  await library.place('alice/2026-01-31/1002.mp4', MP3)
})

/** `npm test` builds before this; a developer may not have. */
function isOutdated(): boolean {
  const built = path.join(root, 'dist/server/main.js')
  if (!existsSync(built)) return true
  const sources = globSync('{tsconfig.*.json,{server,shared}/**/*.ts}', { cwd: root })
  const builtMs = statSync(built).mtimeMs
  return sources.some((file) => statSync(path.join(root, file)).mtimeMs > builtMs)
}

async function pack(target: string): Promise<z.infer<typeof packed>[number]> {
  const { program: npmFile, first } = npmProgram()
  const flags = ['pack', '--json', '--ignore-scripts', '--pack-destination', target]
  const { stdout } = await run(npmFile, [...first, ...flags], { cwd: root })
  const [result] = packed.parse(JSON.parse(stdout))
  if (result === undefined) throw new Error('npm has packed nothing')
  return result
}

/** As `npm install --omit=dev`, with links to the packages of this clone. Returns the program. */
async function install(): Promise<string> {
  const modules = path.join(folder, 'node_modules')
  await mkdir(modules)
  await run('tar', ['-xzf', path.join(folder, archive.filename), '-C', folder])
  await rename(path.join(folder, 'package'), path.join(modules, 'aftercast'))
  for (const name of Object.keys(manifest.dependencies)) {
    const target = path.join(modules, name)
    await mkdir(path.dirname(target), { recursive: true })
    await symlink(path.join(root, 'node_modules', name), target)
  }
  const installed = path.join(modules, 'aftercast', manifest.bin.aftercast)
  await chmod(installed, 0o755)
  return installed
}

/** The kernel may refuse a network namespace to users; to root it does not. */
function canUnshare(): boolean {
  const ip = findProgram('ip')
  if (process.env.CI === 'true' || ip === undefined) return ip !== undefined
  return (
    spawnSync('unshare', ['--net', '--map-root-user', ip, 'link'], { stdio: 'ignore' }).status === 0
  )
}

async function playlistOf(server: StartedServer, id: string) {
  return fetchPlaylist(`${server.url}/api/video/alice/2026-01-31/${id}/playlist.m3u8`)
}

async function detailsOf(server: StartedServer, id: string): Promise<unknown> {
  return (await fetch(`${server.url}/api/session/alice/2026-01-31/${id}`)).json()
}

it('contains the built program, the built page and nothing of the sources', () => {
  const names = archive.files.map((file) => file.path)
  const children = globSync('server/**/*-{child,worker}.ts', { cwd: root }).map(
    (file) => `dist/${file.replace(/ts$/, 'js')}`,
  )
  expect(names).toEqual(
    expect.arrayContaining([
      manifest.bin.aftercast,
      'dist/web/index.html',
      'LICENSE',
      'CHANGELOG.md',
      ...children,
    ]),
  )
  const expected = [
    /^dist\/(?:server|shared|web)\//,
    /^server\/site\/ads\//,
    /^docs\/(?!\.)/,
    /^[A-Z]+(?:\.md)?$/,
    /^package\.json$/,
  ]
  const isExpected = (name: string): boolean => expected.some((pattern) => pattern.test(name))
  expect(names.filter((name) => !isExpected(name))).toEqual([])
  expect(names.filter((name) => /\.(?:ts|tsx|map)$|\.test\.|node_modules/.test(name))).toEqual([])
  expect(archive.unpackedSize).toBeLessThan(MAX_UNPACKED_BYTES)
})

it('has equal bytes when it is packed again', async () => {
  const again = path.join(folder, 'again')
  await mkdir(again)
  expect((await pack(again)).integrity).toBe(archive.integrity)
})

it('contains only packages with free licences, and the terms of those in the page', () => {
  const lock = z
    .object({
      packages: z.record(
        z.string(),
        z.object({
          license: z.string().optional(),
          dev: z.boolean().optional(),
          devOptional: z.boolean().optional(),
          peer: z.boolean().optional(),
        }),
      ),
    })
    .parse(JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')))
  const licences = Object.values(lock.packages)
    .filter(({ dev, devOptional, peer }) => !(dev ?? devOptional ?? peer ?? false))
    .map(({ license }) => license)
  const free = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']
  const isFree = (licence = ''): boolean =>
    licence
      .replace(/[()]/g, '')
      .split(' OR ')
      .some((name) => free.includes(name))
  expect(licences.filter((licence) => !isFree(licence))).toEqual([])
  const terms = readFileSync(
    path.join(folder, 'node_modules/aftercast/dist/web/licenses.md'),
    'utf8',
  )
  for (const name of ['hls.js', 'eventemitter3', 'react-dom', 'react-router', 'url-toolkit']) {
    expect(terms).toContain(`## ${name} - `)
  }
})

it.skipIf(!canUnshare())('connects to nothing that is not configured', async () => {
  const script = path.join(import.meta.dirname, 'support/visit-offline.ts')
  const args = ['--net', '--map-root-user', process.execPath, script, program, library.recordings]
  const data = path.join(folder, 'offline')
  const { stdout } = await run('unshare', [...args, data], { env: { PATH: process.env.PATH } })
  const visit = z.object({ requests: z.number(), connections: z.number(), datagrams: z.number() })
  const { requests, connections, datagrams } = visit.parse(JSON.parse(stdout))
  expect(requests).toBeGreaterThan(5)
  expect({ connections, datagrams }).toEqual({ connections: requests, datagrams: 0 })
})

it('contains every file that its README, its messages and its scripts name', () => {
  const names = archive.files.map((file) => file.path)
  const read = (name: string): string =>
    readFileSync(path.join(folder, 'node_modules/aftercast', name), 'utf8')
  const linked = [...read('README.md').matchAll(/\]\((?!https?:)(?<target>[^)#]+)/g)]
  const speaking = names.filter((name) => /^dist\/server\/.*\.js$|\.sh$/.test(name))
  const named = speaking.flatMap((name) => [...read(name).matchAll(DOCUMENT)])
  const targets = [...linked, ...named].map(({ groups }) => groups?.target ?? '')
  expect(targets).toEqual(
    expect.arrayContaining(['docs/security.md', 'docs/layouts.md', 'docs/deploy/Caddyfile']),
  )
  const isContained = (target: string): boolean =>
    names.some((name) => name === target || name === `${target}/README.md`)
  expect(targets.filter((target) => !isContained(target))).toEqual([])
})

it('runs as a command, and names what the demo library lacks', async () => {
  const env = { ...process.env, PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` }
  const { stdout } = await run(program, ['--version'], { env })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
  const demo = run(program, ['demo', path.join(folder, 'demo')], { env })
  await expect(demo).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^aftercast: .*needs the package node-av: run `npm install --global node-av.*\n$/,
    ),
  })
})

it('reads from a bucket: the compiler has changed no name in requests', async () => {
  const requests: unknown[] = []
  const store = createServer(({ url }, response) => {
    requests.push(url)
    response.end('<ListBucketResult/>')
  }).listen(0, '127.0.0.1')
  await once(store, 'listening')
  const { port } = z.object({ port: z.number() }).parse(store.address())
  const outcome = run(process.execPath, [program, 'check', 's3://streams/2026'], {
    cwd: folder,
    env: {
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
      AFTERCAST_S3_PATH_STYLE: 'true',
    },
  })
  try {
    expect((await outcome).stderr).toContain('0 playable sessions')
    expect(requests).toContainEqual(expect.stringMatching(/^\/streams\/\?.*prefix=2026%2F/))
  } finally {
    store.close()
  }
})

it('serves without decoders: no images, silence, and URLs of its own for it', async () => {
  const bare = await startServer({
    program,
    args: library.args,
    environment: { AFTERCAST_WORKERS: '2' },
  })
  expect(bare.output().match(/node-av is not installed/g)).toHaveLength(1)
  expect((await fetch(bare.url)).status).toBe(200)
  for (const image of ['thumbnail/alice/2026-01-31/1001', 'thumbnail-streamer/alice']) {
    expect((await fetch(`${bare.url}/api/${image}`)).status).toBe(404)
  }
  expect(await detailsOf(bare, '1001')).not.toHaveProperty('storyboard')
  const storyboard = '/api/storyboard/alice/2026-01-31/1001/storyboard.vtt'
  expect((await fetch(bare.url + storyboard)).status).toBe(404)
  const silent = await playlistOf(bare, '1002')
  for (const segment of silent.segments) expect(await fetchSegment(segment)).not.toHaveLength(0)
  const recorded = await playlistOf(bare, '1001')

  // With the decoders, on the same data: nothing of the above was stored.
  await bare.stop()
  const full = await startServer({ args: library.args })
  expect(full.output()).not.toContain('node-av')
  expect((await fetch(`${full.url}/api/thumbnail/alice/2026-01-31/1001`)).status).toBe(200)
  expect(await detailsOf(full, '1001')).toHaveProperty('storyboard')
  const paths = ({ segments }: typeof silent) => segments.map(({ url }) => new URL(url).pathname)
  expect(paths(await playlistOf(full, '1001'))).toEqual(paths(recorded))
  expect(paths(await playlistOf(full, '1002'))).not.toEqual(paths(silent))
})
