// The machine: Node.js, decoders and their sandbox, clock, descriptors.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { DECODER_INSTALL, hasDecoderPackage } from '../../decode/child/decoder-package.ts'
import { createSandbox } from '../../decode/child/sandbox.ts'
import type { Io } from '../io.ts'
import { failure, ok, warning } from './finding.ts'
import type { Finding } from './finding.ts'

/** A program from this year cannot run earlier. */
const EARLIEST = Date.UTC(2026, 0)
/** docs/operations.md: connections, files and segments of 14,000 visitors. */
const WANTED_DESCRIPTORS = 20_000
const DECODER_START_MS = 30_000
/** By restriction; those not named here need only its tool. */
const SANDBOX_REMEDIES: Partial<Record<string, string>> = {
  user: 'install Aftercast in a folder that every user can read, which /root is not',
  network: 'allow namespaces to this user',
}

/** An older Node.js than the program needs never gets here. */
export function examineProgram({ nodeVersion }: Io): Finding {
  return ok(`Node.js ${nodeVersion} on ${platform()} ${arch()}`)
}

/** Loads the decoders in a process of their own, which a missing library may end. */
export async function examineDecoders(): Promise<Finding> {
  const without = 'no thumbnails, storyboards, demo library or transcoded audio'
  if (!hasDecoderPackage()) {
    return warning(`the decoders are not installed: ${without}`, DECODER_INSTALL)
  }
  const program = fileURLToPath(import.meta.resolve('node-av'))
  const child = fork(program, { silent: true, execArgv: [], timeout: DECODER_START_MS })
  const output = child.stderr === null ? '' : text(child.stderr)
  const [code, signal]: unknown[] = await once(child, 'exit')
  if (code === 0) return ok('the decoders can be loaded')
  const lines = (await output).split('\n')
  const reason = lines.find((line) => line.includes('Error')) ?? `ended with ${String(signal)}`
  return warning(
    `the decoders cannot be loaded, so there are ${without}: ${reason}`,
    `${DECODER_INSTALL}, on a system that node-av supports`,
  )
}

const missingShape = z.object({ missing: z.partialRecord(z.string(), z.string()) })

export async function examineSandbox(): Promise<Finding[]> {
  const findings: Finding[] = []
  const log = {
    debug: () => undefined,
    warn: (details: object) => {
      const { missing } = missingShape.parse(details)
      for (const [part, reason] of Object.entries(missing)) {
        // It needs a newer util-linux than Debian 12 has, and is a second line of defence.
        if (part === 'files') continue
        const remedy = `${SANDBOX_REMEDIES[part] ?? 'install util-linux'} (docs/security.md)`
        findings.push(warning(`the sandbox of decoders lacks ${part}: ${reason}`, remedy))
      }
    },
  }
  await createSandbox({ log }).detect()
  return findings.length > 0 ? findings : [ok('decoders of untrusted media are confined')]
}

export function examineClock(): Finding {
  const now = new Date()
  if (now.getTime() >= EARLIEST) return ok(`the clock says ${now.toISOString()}`)
  const text = `the clock says ${now.toISOString()}: certificates and signatures are refused`
  return failure(text, 'timedatectl set-ntp true')
}

/** Node.js raises the soft limit to the hard one. */
export async function examineDescriptors(): Promise<Finding[]> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '')
  const { hard } = /^Max open files +\S+ +(?<hard>\S+)/m.exec(limits)?.groups ?? {}
  if (hard === undefined) return []
  if (hard === 'unlimited' || Number(hard) >= WANTED_DESCRIPTORS) {
    return [ok(`a process may open ${hard} files and connections`)]
  }
  const text = `a process may open only ${hard} files and connections`
  return [warning(text, `LimitNOFILE=${WANTED_DESCRIPTORS} in the service, or ulimit -n`)]
}
