// `aftercast doctor`: examines the machine and what the configuration names.
import type { Config } from '../../base/config/load-config.ts'
import { countOf } from '../../../shared/count-of.ts'
import { printable } from '../../../shared/printable.ts'
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
  examineData,
  examineDatabase,
  examineRecordings,
} from './examine-storage.ts'
import type { Io } from '../io.ts'

const LEVEL_WIDTH = 'warning '.length

/** Prints a line per finding; returns the exit code: 1 if one prevents service. Changes nothing. */
export async function doctor(config: Config, io: Io): Promise<number> {
  const { signal } = io
  const examinations = [
    () => examineProgram(io),
    examineDecoders,
    examineSandbox,
    examineClock,
    examineDescriptors,
    () => examineData(config),
    () => examineRecordings(config, signal),
    () => examineArtifacts(config, signal),
    () => examineDatabase(config),
    () => examineNetwork(config, signal),
  ]
  const findings: Finding[] = []
  for (const examine of examinations) {
    const found = [await examine()].flat()
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
