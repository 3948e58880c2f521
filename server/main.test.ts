import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeTempFolder } from '../test/support/temp-folder.ts'

const program = path.resolve('server/main.ts')

describe('the program', () => {
  let folder = ''
  beforeAll(async () => {
    folder = makeTempFolder('main')
  })
  function run(args: string[], environment: NodeJS.ProcessEnv = {}) {
    return runNode(process.execPath, [program, ...args], environment)
  }

  function runNode(node: string, args: string[], environment: NodeJS.ProcessEnv = {}) {
    return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const options = { cwd: folder, env: { PATH: process.env.PATH, ...environment } }
      execFile(node, args, options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, stdout, stderr })
      })
    })
  }

  it('prints its version and exits with 0', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })

  it('refuses an older Node with one line and 2, before it loads any other file', async () => {
    const preload = path.join(folder, 'older-node.mjs')
    await writeFile(preload, olderNode)
    const refused = await runNode(process.execPath, [
      '--import',
      preload,
      program,
      'check',
      'missing',
    ])
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: 'aftercast: Node 24 or newer is required, not 20.19.0\n',
    })
    // An older Node, if this machine has one, cannot load what the compiled file imports here.
    const built = path.join(folder, 'main.mjs')
    await writeFile(built, stripTypeScriptTypes(await readFile(program, 'utf8')))
    for (const { node, version } of findOlderNodes()) {
      const stderr = `aftercast: Node 24 or newer is required, not ${version}\n`
      expect(await runNode(node, [built, 'check', 'missing'])).toEqual({
        code: 2,
        stdout: '',
        stderr,
      })
    }
  })

  it('requires the Node that the package names', async () => {
    const manifest: unknown = JSON.parse(await readFile('package.json', 'utf8'))
    expect(manifest).toMatchObject({ engines: { node: '>=24' } })
  })

  it('exits with 2 and names the key of a bad variable', async () => {
    const { code, stderr } = await run(['serve'], { PORT: 'http' })
    expect(code).toBe(2)
    expect(stderr).toBe(
      'aftercast: server.port (from PORT): must be a whole number from 0 to 65535\n',
    )
  })

  it('exits with 2 and names an unknown key of the file in the working folder', async () => {
    await writeFile(path.join(folder, 'aftercast.config.json'), '{ "hls": { "speed": 2 } }')
    const { code, stderr } = await run(['check'])
    expect(code).toBe(2)
    expect(stderr).toBe('aftercast: hls.speed: unknown key\n')
  })
})

/** Pretends to be an older Node, and prints every file that is loaded after main.ts. */
const olderNode = `
import { registerHooks } from 'node:module'
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/main.ts')) process.stderr.write('loads ' + url + '\\n')
    return next(url, context)
  },
})
`

/** Programs named `node` on the path that are too old. */
function findOlderNodes(): { node: string; version: string }[] {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const nodes = folders.map((name) => path.join(name, 'node')).filter((file) => existsSync(file))
  return [...new Set(nodes)]
    .map((node) => ({ node, version: execFileSync(node, ['-p', 'process.versions.node']) }))
    .map(({ node, version }) => ({ node, version: version.toString().trim() }))
    .filter(({ version }) => Number.parseInt(version, 10) < 24)
}
