// The output of a process whose stderr fails in the ways that terminals, pipes and disks do.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { soon } from '../../../test/support/patience.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

const folder = makeTempFolder('output')
const script = path.join(folder, 'write-lines.mjs')
const MODULE = pathToFileURL(path.resolve(import.meta.dirname, 'line-output.ts')).href
const LINES = 3000
const LINE_BYTES = 1000

beforeAll(() => {
  // Writes 3 MB, reports that its event loop still runs, and writes one more line on each message.
  writeFileSync(
    script,
    `import { openLineOutput } from ${JSON.stringify(MODULE)}
    process.stderr.on('error', () => undefined)
    const output = openLineOutput(2)
    output.onRecovered((dropped) => output.write('dropped ' + dropped + '\\n'))
    for (let i = 0; i < ${LINES}; i += 1) output.write(String(i).padEnd(${LINE_BYTES - 1}) + '\\n')
    setTimeout(() => process.send({ dropped: output.dropped }), 50)
    process.on('message', async () => {
      output.write('last\\n')
      await output.close()
      process.disconnect()
    })`,
  )
})
function start(stderr: number | 'pipe', wrapper: string[] = []): ChildProcess {
  const [command, ...words] = [...wrapper, process.execPath, script]
  return spawn(command ?? process.execPath, words, { stdio: ['ignore', 'ignore', stderr, 'ipc'] })
}

async function readDropped(child: ChildProcess): Promise<number> {
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`exited with ${code}`)
  })
  const [{ dropped }] = await Promise.race([once(child, 'message'), exited])
  exited.catch(() => undefined)
  return dropped
}

async function end(child: ChildProcess): Promise<unknown> {
  child.send('end')
  const [code] = await once(child, 'exit')
  return code
}

/** Both ends of a pipe; opening the reader first lets the writer open without waiting. */
function createPipe(name: string): { reader: number; writer: number } {
  const file = path.join(folder, name)
  spawnSync('mkfifo', [file])
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  return { reader, writer: openSync(file, constants.O_WRONLY) }
}

/** What a pipe that is not read has stored. */
function readAvailable(reader: number): string {
  const buffer = Buffer.alloc(1 << 20)
  try {
    return buffer.toString('latin1', 0, readSync(reader, buffer))
  } catch {
    return ''
  }
}

describe('openLineOutput', () => {
  it('writes every line to a file', async () => {
    const file = path.join(folder, 'log')
    const fd = openSync(file, 'w')
    const child = start(fd)
    closeSync(fd)
    const dropped = await readDropped(child)
    expect(await end(child)).toBe(0)
    const lines = readFileSync(file, 'latin1').trimEnd().split('\n')
    expect(lines).toContain('last')
    const numbers = lines.filter((line) => /^\d+ *$/.test(line))
    expect(numbers.map(Number)).toEqual(Array.from(numbers, (_, i) => i))
    expect(numbers.length + dropped).toBe(LINES)
  })

  it('drops lines while a pipe is not read, and reports their number once it is', async () => {
    const { reader, writer } = createPipe('blocked')
    const child = start(writer)
    closeSync(writer)
    const dropped = await readDropped(child)
    expect(dropped).toBeGreaterThan(1000)
    let text = ''
    await expect.poll(() => (text += readAvailable(reader)), soon).toContain(`dropped ${dropped}\n`)
    const numbers = text.split('\n').filter((line) => /^\d+ *$/.test(line))
    expect(numbers.map(Number)).toEqual(Array.from({ length: LINES - dropped }, (_, i) => i))
    expect(await end(child)).toBe(0)
    closeSync(reader)
  })

  it('lets the process end while a pipe is not read', async () => {
    const { reader, writer } = createPipe('blocked-at-the-end')
    const child = start(writer)
    closeSync(writer)
    expect(await readDropped(child)).toBeGreaterThan(1000)
    expect(await end(child)).toBe(0)
    closeSync(reader)
  })

  it('survives a pipe whose reader is closed', async () => {
    const { reader, writer } = createPipe('closed')
    closeSync(reader)
    const child = start(writer)
    closeSync(writer)
    expect(await readDropped(child)).toBeGreaterThan(1000)
    expect(await end(child)).toBe(0)
  })

  it('survives a socket that is not read, and one that is closed', async () => {
    for (const isClosed of [false, true]) {
      const child = start('pipe')
      if (isClosed) child.stderr?.destroy()
      expect(await readDropped(child)).toBeGreaterThan(1000)
      expect(await end(child)).toBe(0)
    }
  })

  it('continues when a file may grow again', async () => {
    const file = path.join(folder, 'limited')
    const fd = openSync(file, 'w')
    const child = start(fd, ['prlimit', '--fsize=100500:unlimited'])
    closeSync(fd)
    const dropped = await readDropped(child)
    await expect.poll(() => readFileSync(file).length, soon).toBe(100_500)
    spawnSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:unlimited'])
    const text = (): string => readFileSync(file, 'latin1')
    await expect.poll(text, soon).toContain(`dropped ${dropped}\n`)
    const numbers = text().split('\n').slice(0, -2).map(Number)
    expect(numbers).toEqual(Array.from({ length: LINES - dropped }, (_, i) => i))
    expect(await end(child)).toBe(0)
  })

  it('survives a full disk', async () => {
    const fd = openSync('/dev/full', 'w')
    const child = start(fd)
    closeSync(fd)
    expect(await readDropped(child)).toBeGreaterThan(1000)
    expect(await end(child)).toBe(0)
  })
})
