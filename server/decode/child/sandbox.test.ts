import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { childCode } from '../../../test/support/child-code.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { createDecoderPool } from './decoder-pool.ts'
import { createSandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const { signal } = new AbortController()
const isRoot = process.getuid?.() === 0
const sandbox = createSandbox()
const { parts } = await sandbox.detect()
const folder = makeTempFolder('sandbox')
// The child's user must reach its program, and only the sandbox may keep it from writing here.
await chmod(folder, 0o777)

/** A pool of one child that replies to each job with the value of `expression`, or its error. */
async function startPool(name: string, expression: string, of: Sandbox = sandbox) {
  const file = path.join(folder, `${name}.mjs`)
  const reply = (value: string) => `send({ status: 'done', value: ${value} })`
  await writeFile(
    file,
    childCode(`
      try { const value = await (${expression}); ${reply('value')} }
      catch (error) { ${reply('error.code ?? error.message')} }`),
  )
  const pids: number[] = []
  const log = {
    debug: (details: object) => void ('pid' in details && pids.push(Number(details.pid))),
    warn: () => undefined,
  }
  const pool = createDecoderPool<object>(
    {
      program: { file, name },
      limits: {
        startMs: 60_000,
        jobMs: 60_000,
        residentBytes: 2 ** 30,
        cpuSeconds: 2,
        idleMs: 60_000,
      },
      queue: { limit: 1, waiting: 1, busyMessage: 'busy' },
    },
    { sandbox: of, log },
  )
  const run = async (job: object): Promise<unknown> => {
    const result = await pool.run({ job, parse: (value) => value }, signal)
    return result.status === 'done' ? result.value : result.reason
  }
  return { run, close: () => pool.close(), pids }
}

async function runOnce(name: string, expression: string, of?: Sandbox): Promise<unknown> {
  const { run, close } = await startPool(name, expression, of)
  try {
    return await run({})
  } finally {
    close()
  }
}

/** C functions of the child's process, for what native code can do. */
const libc = `(await import('${import.meta.resolve('koffi')}')).default.load(null)`

/** Whether a tool with these options can start a program. */
function canRun(tool: string, options: string[], program = ['true']): boolean {
  return spawnSync(tool, [...options, ...program]).status === 0
}

describe('createSandbox', () => {
  it('uses every part that this machine allows', () => {
    const network = isRoot ? ['--net', '--ipc'] : ['--user', '--net', '--ipc']
    const user = ['--reuid=65534', '--regid=65534', '--clear-groups']
    const useProgram = ['test', '-x', process.execPath, '-a', '-x', import.meta.dirname]
    const landlock = ['--no-new-privs', '--landlock-access=fs:truncate']
    expect(Object.fromEntries([...parts].map((part) => [part, true]))).toEqual({
      ...(canRun('prlimit', ['--nofile=64']) && { limits: true }),
      ...(canRun('unshare', network) && { network: true }),
      ...(canRun('setpriv', ['--no-new-privs']) && { privileges: true }),
      ...(isRoot && canRun('setpriv', user, useProgram) && { user: true }),
      ...(canRun('setpriv', landlock) && { files: true }),
    })
  })

  it('names in one line what is missing, and the child still works', async () => {
    const lines: [object, string][] = []
    const empty = path.join(folder, 'no-tools')
    await mkdir(empty)
    const bare = createSandbox({
      searchPath: empty,
      log: { debug: () => undefined, warn: (...line) => void lines.push(line) },
    })
    expect(await runOnce('without-tools', '6 * 7', bare)).toBe(42)
    expect(await runOnce('again', '6 * 7', bare)).toBe(42)
    expect(lines).toHaveLength(1)
    expect(lines[0]?.[1]).toMatch(/lacks limits, privileges, (user, )?files, network;/)
    expect(lines[0]?.[0]).toMatchObject({
      missing: expect.objectContaining(
        process.platform === 'linux' ? { limits: 'prlimit not found' } : {},
      ),
    })
  })

  const refusal = 'unshare: unshare failed: Operation not permitted'
  const forbidden = [
    ['fails', `echo '${refusal}' >&2; exit 1`, refusal],
    ['ends', 'kill -SYS $$', 'ended with SIGSYS'],
  ] as const
  const cases = parts.has('limits') ? forbidden : []

  it.each(cases)('keeps the other parts where one tool %s', async (name, command, reason) => {
    const lines: [object, string][] = []
    const tools = path.join(folder, name)
    await mkdir(tools)
    for (const tool of ['prlimit', 'test', 'setpriv']) {
      const { stdout } = spawnSync('which', [tool], { encoding: 'utf8' })
      await symlink(stdout.trim(), path.join(tools, tool))
    }
    await writeFile(path.join(tools, 'unshare'), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
    const partial = createSandbox({
      searchPath: tools,
      log: { debug: () => undefined, warn: (...line) => void lines.push(line) },
    })
    expect(await runOnce(`tool-${name}`, '6 * 7', partial)).toBe(42)
    expect([...(await partial.detect()).parts]).toEqual([...parts].filter((p) => p !== 'network'))
    expect(lines).toEqual([
      [
        { missing: expect.objectContaining({ network: reason }) },
        expect.stringContaining('network'),
      ],
    ])
  })

  it.runIf(parts.has('limits'))('tries again if the system could not start a tool', async () => {
    const tools = path.join(folder, 'unreachable')
    await symlink(tools, tools)
    const looped = createSandbox({ searchPath: tools })
    await expect(looped.detect()).rejects.toMatchObject({ code: 'busy' })
    await rm(tools)
    await symlink('/usr/bin', tools)
    expect((await looped.detect()).parts).toContain('limits')
  })
})

describe('in the sandbox', () => {
  it('JavaScript creates no file, reads none of others, and starts no program', async () => {
    const target = JSON.stringify(path.join(folder, 'created'))
    const attempts = [
      `(await import('node:fs')).writeFileSync(${target}, 'x')`,
      `(await import('node:fs')).readFileSync('/etc/passwd')`,
      `(await import('node:child_process')).execFileSync('true')`,
      `new (await import('node:worker_threads')).Worker('', { eval: true })`,
    ]
    for (const [position, attempt] of attempts.entries()) {
      expect(await runOnce(`javascript-${position}`, attempt), attempt).toBe('ERR_ACCESS_DENIED')
    }
    expect(await readdir(folder)).not.toContain('created')
  })

  it.runIf(parts.has('network'))('no connection reaches a server on this machine', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const connect = `(await import('node:net')).connect(${port}, '127.0.0.1')`
    const outcome = await runOnce(
      'network',
      `new Promise(async (resolve, reject) => ${connect}
        .on('connect', () => resolve('connected')).on('error', reject))`,
    )
    server.close()
    expect(outcome).toBe('ENETUNREACH')
    expect(connections).toBe(0)
  })

  it.runIf(parts.has('limits'))('descriptors run out', async () => {
    const open = `(await import('node:fs')).openSync(process.argv[1])`
    const outcome = await runOnce(
      'descriptors',
      `(async () => { for (let opened = 0; opened < 200; opened += 1) ${open} })()`,
    )
    expect(outcome).toBe('EMFILE')
  })

  it.runIf(parts.has('limits'))('memory beyond the limit ends the child alone', async () => {
    const { run, close, pids } = await startPool(
      'memory',
      // Not written to, so that only address space counts; an error here is not caught.
      `job.isLarge ? setImmediate(() => {
        globalThis.allocated = Array.from({ length: 16 }, () => new ArrayBuffer(2 ** 28))
      }) && new Promise(() => {}) : 'decoded'`,
    )
    expect(await run({ isLarge: true })).toBe('the decoder crashed (exit)')
    expect(await run({ isLarge: false })).toBe('decoded')
    close()
    expect(pids).toHaveLength(2)
  })

  it.runIf(parts.has('limits'))(
    'processor time runs out, if no new child comes first',
    async () => {
      const used = '(({ user, system }) => (user + system) / 1000)(process.cpuUsage())'
      const spin = `(() => { while (${used} < job.cpuMs); return process.pid })()`
      const { run, close, pids } = await startPool('processor', spin)
      const first = await run({ cpuMs: 0 })
      expect(await run({ cpuMs: 1200 })).toBe(first)
      const endless = await run({ cpuMs: Infinity })
      expect(endless).toBe('the decoder crashed (SIGKILL)')
      close()
      expect(pids).toHaveLength(2)
    },
  )

  it.runIf(parts.has('limits'))('native code writes no byte to a file', async () => {
    const target = JSON.stringify(path.join(folder, 'native'))
    const outcome = await runOnce(
      'native',
      `(async () => {
        const libc = ${libc}
        const create = libc.func('int creat(const char *path, int mode)')
        const write = libc.func('long write(int descriptor, const char *bytes, long size)')
        const descriptor = create(${target}, 0o644)
        return descriptor < 0 ? 'not created' : write(descriptor, 'x', 1)
      })()`,
    )
    expect(outcome).toBe(parts.has('files') ? 'not created' : -1)
  })

  it.runIf(parts.has('user'))('the user is not root and has no privileges', async () => {
    const { run, close, pids } = await startPool('user', 'process.getuid()')
    expect(await run({})).toBe(65_534)
    const status = await statusOf(Number(pids[0]))
    close()
    expect(status).toMatchObject({ CapPrm: 0, CapEff: 0, CapBnd: 0, NoNewPrivs: 1, Groups: 0 })
  })

  it.runIf(parts.has('privileges'))('a child ends with a server that was killed', async () => {
    const parent = await startParent()
    const child = await parent.childPid
    try {
      // A stopped process, like one in a loop, does not notice that its channel is closed.
      process.kill(child, 'SIGSTOP')
      parent.kill()
      await expect.poll(() => isRunning(child)).toBe(false)
    } finally {
      if (await isRunning(child)) process.kill(child, 'SIGKILL')
    }
  })
})

/** A process that has started a child and does not end by itself. */
async function startParent() {
  const program = path.join(folder, 'job.mjs')
  await writeFile(program, childCode(`send({ status: 'done', value: true })`))
  const file = path.join(folder, 'parent.mjs')
  const urlOf = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  await writeFile(
    file,
    `const { createDecoderPool } = await import(${urlOf('./decoder-pool.ts')})
     const { createSandbox } = await import(${urlOf('./sandbox.ts')})
     let child
     const pool = createDecoderPool({
       program: { file: ${JSON.stringify(program)}, name: 'job' },
       limits: { startMs: 60_000, jobMs: 60_000, residentBytes: 2 ** 30, cpuSeconds: 2, idleMs: 60_000 },
       queue: { limit: 1, waiting: 1, busyMessage: 'busy' },
     }, {
       sandbox: createSandbox(),
       log: { debug: (details) => { child = details.pid }, warn() {} },
     })
     await pool.run({ job: {}, parse: () => true }, new AbortController().signal)
     console.log(child)
     setInterval(() => {}, 60_000)`,
  )
  const parent = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const childPid = once(parent.stdout, 'data').then(([line]) => Number(String(line)))
  return { childPid, kill: () => parent.kill('SIGKILL') }
}

async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  return status !== '' && !/^State:\s+Z/m.test(status)
}

/** The numbers in a process's status (proc_pid_status(5)). */
async function statusOf(pid: number): Promise<Record<string, number>> {
  const lines = (await readFile(`/proc/${pid}/status`, 'utf8')).trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(':')
      return [name, Number.parseInt(`0${value.trim()}`, 16)]
    }),
  )
}
