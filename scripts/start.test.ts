import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeTempFolder } from '../test/support/temp-folder.ts'

const { scripts: packageScripts } = z
  .object({ scripts: z.object({ start: z.string(), aftercast: z.string() }) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))
const emptyLock = { name: 'clone', version: '1.0.0', lockfileVersion: 3, packages: {} }
const build =
  "import { mkdirSync, writeFileSync } from 'node:fs'\n" +
  "mkdirSync('dist/web', { recursive: true })\nwriteFileSync('dist/web/index.html', '')\n"
const program =
  "console.log(process.argv.slice(2).join('|'))\n" +
  "if (process.argv.includes('--wait')) console.log(`pid ${process.pid}`)\n" +
  "if (process.argv.includes('--wait')) setInterval(() => {}, 1000)\nelse process.exitCode = 7\n"

/** A clone without dependencies. Its program prints its arguments and exits with 7. */
describe('npm start', () => {
  let clone = ''
  const write = async (name: string, text: string) => {
    await mkdir(path.dirname(path.join(clone, name)), { recursive: true })
    await writeFile(path.join(clone, name), text)
  }

  beforeEach(async () => {
    clone = makeTempFolder('start')
    const { start, aftercast } = packageScripts
    const scripts = { start, aftercast, 'build:web': 'node build.mjs' }
    const manifest = { name: 'clone', version: '1.0.0', scripts, engines: { node: '>=99' } }
    await write('package.json', JSON.stringify(manifest))
    await write('package-lock.json', JSON.stringify(emptyLock))
    await write('build.mjs', build)
    await write('web/main.tsx', '1')
    await write('server/main.ts', program)
    await mkdir(path.join(clone, 'scripts'))
    for (const name of ['prepare.mjs', 'start.mjs']) {
      await copyFile(path.join('scripts', name), path.join(clone, 'scripts', name))
    }
  })
  it('installs and starts with a Node that is too old for the published package', async () => {
    const { code, err } = await start([], { npm_config_engine_strict: 'true' })
    expect(code).toBe(7)
    expect(err).not.toContain('EBADENGINE')
  })

  it('installs with the locked Node where the running one is older', async () => {
    const manifest = { scripts: { 'build:web': '' }, devDependencies: { node: '24.1.2' } }
    await write('package.json', JSON.stringify(manifest))
    const npmCli = path.join(clone, 'npm-cli.js')
    const record = "fs.appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n')"
    const files = "for (const name of ['node_modules/node/bin/', 'dist/web/'])"
    const make = 'fs.mkdirSync(name, { recursive: true })'
    const fill = "fs.writeFileSync('dist/web/index.html', '')"
    const node = "fs.cpSync(process.execPath, 'node_modules/node/bin/node')"
    await write(
      'npm-cli.js',
      `const fs = require('fs')\n${record}\n${files} ${make}\n${fill}\n${node}`,
    )
    await write('old.cjs', "Object.defineProperty(process.versions, 'node', { value: '18.20.4' })")
    const options = `--require=${path.join(clone, 'old.cjs')}`
    const { code } = await start([], { npm_execpath: npmCli, NODE_OPTIONS: options })
    expect(code).toBe(7)
    expect(readFileSync(path.join(clone, 'calls'), 'utf8')).toMatch(
      /^exec --yes --package=node@24\.1\.2 -- npm ci --include=dev .*\n/,
    )
  })

  async function run(file: string, args: string[], environment: NodeJS.ProcessEnv = {}) {
    const { promise, resolve } = Promise.withResolvers<{
      code: unknown
      out: string
      err: string
    }>()
    const env = { ...process.env, ...environment }
    execFile(file, args, { cwd: clone, env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), out, err })
    })
    return promise
  }

  async function start(args: string[] = [], environment: NodeJS.ProcessEnv = {}) {
    return run(process.execPath, ['scripts/start.mjs', 'serve', ...args], environment)
  }

  /** With the Node of this process first on the path. */
  function npm(...args: string[]) {
    const folders = [path.dirname(process.execPath), process.env.PATH]
    return run('npm', args, { PATH: folders.join(path.delimiter) })
  }

  it('runs any command, with its arguments, its output and its exit code', async () => {
    const first = await npm('run', '--silent', 'aftercast', '--', 'check', 'a folder', '--json')
    expect(first).toMatchObject({ code: 7, out: 'check|a folder|--json\n' })
    expect(first.err).toContain('Installing packages')
    // Only a server needs the page.
    expect(existsSync(path.join(clone, 'dist'))).toBe(false)
    const second = await npm('run', '--silent', 'aftercast', '--', 'hide', "it's $HOME; `x`")
    expect(second).toEqual({ code: 7, out: "hide|it's $HOME; `x`\n", err: '' })
  })

  it('names the way to run a command where one is passed as the folder', async () => {
    const { code, out, err } = await npm('start', '--silent', '--', 'check')
    expect([code, out]).toEqual([2, ''])
    expect(err).toBe(
      'npm start serves recordings, and there is no folder check; ' +
        'to run a command: npm run aftercast -- check\n',
    )
    await mkdir(path.join(clone, 'check'))
    expect(await start(['check'])).toMatchObject({ code: 7, out: 'serve|check\n' })
  })

  it('installs and builds once, passes arguments and returns the exit code', async () => {
    const first = await start(['a folder', '--port', '0'])
    expect(first).toMatchObject({ code: 7, out: 'serve|a folder|--port|0\n' })
    expect(first.err).toContain('Installing packages')
    expect(first.err).toContain('Building the page')
    expect(await start()).toEqual({ code: 7, out: 'serve\n', err: '' })
  })

  it('installs again when the lock has changed, builds again when the page has', async () => {
    await start()
    await write('web/main.tsx', '2')
    const rebuilt = await start()
    expect(rebuilt.err).toContain('Building the page')
    expect(rebuilt.err).not.toContain('Installing')
    await write('package-lock.json', `${JSON.stringify(emptyLock)}\n`)
    expect((await start()).err).toContain('Installing packages')
  })

  it('reports a failed install, and installs again the next time', async () => {
    await start()
    await write('package-lock.json', '{ broken')
    const failed = await start()
    expect(failed.code).toBe(1)
    expect(failed.err).toContain('npm ci failed')
    await write('package-lock.json', JSON.stringify(emptyLock))
    expect((await start()).err).toContain('Installing packages')
  })

  it('does not change linked packages', async () => {
    const elsewhere = path.join(clone, 'elsewhere')
    await mkdir(elsewhere)
    await symlink(elsewhere, path.join(clone, 'node_modules'))
    expect((await start()).err).not.toContain('Installing')
  })

  it('forwards signals to the server', async () => {
    await start()
    const child = execFile(process.execPath, ['scripts/start.mjs', 'serve', '--wait'], {
      cwd: clone,
    })
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
    child.kill('SIGTERM')
    expect(await ended).toBe('SIGTERM')
  })

  it('ends the server when npm is ended', async () => {
    await start()
    const folders = [path.dirname(process.execPath), process.env.PATH]
    const env = { ...process.env, PATH: folders.join(path.delimiter) }
    const npm = execFile('npm', ['start', '--silent', '--', '--wait'], { cwd: clone, env })
    const serverId = await new Promise<number>((resolve) => {
      npm.stdout?.on('data', (text: string) => {
        const found = /pid (?<pid>\d+)/.exec(text)?.groups?.pid
        if (found !== undefined) resolve(Number(found))
      })
    })
    npm.kill('SIGTERM')
    await expect.poll(() => isAlive(serverId)).toBe(false)
  })
})

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0)
  } catch {
    return false
  }
}
