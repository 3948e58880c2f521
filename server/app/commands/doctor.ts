// `aftercast doctor`: examines the machine and what the configuration names.
import type { Config } from '../../base/config/load-config.ts'
import { countOf } from '../../../shared/count-of.ts'
import { printable } from '../../../shared/printable.ts'
import { withTimeout } from '../../../shared/with-timeout.ts'
import { failure } from './finding.ts'
import type { Finding } from './finding.ts'
import {
  examineClock,
  examineDecoders,
  examineDescriptors,
  examineProgram,
  examineSandbox,
} from './examine-machine.ts'
import { examineNetwork } from './examine-network.ts'
import {
  examineArtifacts,
  examineCatalog,
  examineData,
  examineDatabase,
  examineRecordings,
} from './examine-storage.ts'
import type { Io } from '../io.ts'

const LEVEL_WIDTH = 'warning '.length
const LIMIT_MS = 30_000

type Examination = () => Finding | Finding[] | Promise<Finding | Finding[]>

/** Prints a line per finding; returns the exit code: 1 if one prevents service. Changes nothing. */
export async function doctor(config: Config, io: Io): Promise<number> {
  return examineWithin(LIMIT_MS, config, io)
}

/** @param limitMs time of each examination: a file system that hangs never responds */
export async function examineWithin(limitMs: number, config: Config, io: Io): Promise<number> {
  const { signal } = io
  const { data, recordings, artifacts } = config
  const examinations: [what: string, examine: Examination][] = [
    ['Node.js', () => examineProgram(io)],
    ['decoders', examineDecoders],
    ['sandbox', examineSandbox],
    ['clock', examineClock],
    ['descriptors', examineDescriptors],
    [`data: ${data}`, () => examineData(config)],
    [`catalog: ${data}`, () => examineCatalog(config)],
    [`recordings: ${recordings}`, () => examineRecordings(config, signal)],
    [`artifacts: ${artifacts}`, () => examineArtifacts(config, signal)],
    ['database', () => examineDatabase(config)],
    ['server', () => examineNetwork(config, signal)],
  ]
  const findings: Finding[] = []
  for (const [what, examine] of examinations) {
    const hanging = new Error(`${what}: no response within ${limitMs / 1000} s`)
    const found = await withTimeout(async () => [await examine()].flat(), {
      timeoutMs: limitMs,
      reason: () => hanging,
      signal,
    }).catch((error: unknown) => {
      if (error !== hanging) throw error
      return [failure(hanging.message, 'repair the mount or the service that it needs')]
    })
    signal.throwIfAborted()
    for (const finding of found) io.stdout(formatFinding(finding))
    findings.push(...found)
  }
  const count = (level: Finding['level']): number =>
    findings.filter((finding) => finding.level === level).length
  const failures = count('failure')
  io.stderr(`${countOf(failures, 'failure')}, ${countOf(count('warning'), 'warning')}`)
  return failures > 0 ? 1 : 0
}

function formatFinding(finding: Finding): string {
  const remedy = finding.level === 'ok' ? '' : `: ${finding.remedy}`
  return finding.level.padEnd(LEVEL_WIDTH) + printable(finding.text + remedy)
}
