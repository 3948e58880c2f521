// The documented unit of systemd: its form, and how much it leaves to the service; and what its
// installation refuses before it changes anything.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findProgram } from '../scripts/programs.mjs'

const deploy = path.resolve(import.meta.dirname, '../docs/deploy')
const unit = path.join(deploy, 'aftercast.service')
const program = findProgram('systemd-analyze')

async function analyze(...args: string[]): Promise<string> {
  if (program === undefined) throw new Error('there is no systemd-analyze')
  const { stdout, stderr } = await promisify(execFile)(program, args)
  return stdout + stderr
}

describe.skipIf(program === undefined)('aftercast.service', () => {
  it('has no error and no unknown setting', async () => {
    expect(await analyze('verify', unit)).toBe('')
  })

  it('has the exposure that the documentation states', async () => {
    const stated = /exposure of (?<score>\d\.\d)/.exec(readFileSync(`${deploy}/README.md`, 'utf8'))
    const score = Number(stated?.groups?.score)
    expect(score).toBeLessThan(2)
    // A later systemd may know further settings: it fails above the threshold, in tenths.
    const threshold = `--threshold=${Math.round(score * 10)}`
    const report = await analyze('security', '--offline=true', threshold, unit)
    expect(report).toContain('Overall exposure level for aftercast.service')
  })

  it('allows what the sandbox of the decoders needs', () => {
    const text = readFileSync(unit, 'utf8')
    const namespaces = /^RestrictNamespaces=(?<names>.+)$/m.exec(text)?.groups?.names?.split(' ')
    expect(namespaces?.toSorted()).toEqual(['ipc', 'net', 'user'])
    expect(text).toMatch(/^SystemCallFilter=capset$/m)
    expect(text).not.toMatch(/^MemoryDenyWriteExecute=(?:yes|true|1)$/m)
  })
})

describe('install-service.sh', () => {
  const install = path.join(deploy, 'install-service.sh')
  const refused = async (...args: string[]): Promise<unknown> =>
    promisify(execFile)('sh', [install, ...args])

  it('is a script of POSIX shells', async () => {
    await expect(promisify(execFile)('sh', ['-n', install])).resolves.toBeDefined()
  })

  it.each([
    ['no host', [], 'usage: install-service.sh HOST'],
    ['what is no host', ['a.example { respond evil }'], 'not a host name: a.example { respond'],
    ['two lines', ['a.example\nb.example'], 'not a host name'],
    ['a missing folder', ['a.example', '/missing'], 'there is no folder /missing'],
  ])('refuses %s', async (_what, args, message) => {
    await expect(refused(...args)).rejects.toThrow(message)
  })
})
