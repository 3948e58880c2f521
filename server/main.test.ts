import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const program = path.resolve('server/main.ts')

describe('the program', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'aftercast-main-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  function run(args: string[], environment: NodeJS.ProcessEnv = {}) {
    return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const options = { cwd: folder, env: { PATH: process.env.PATH, ...environment } }
      execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
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
