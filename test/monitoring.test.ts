// The documented dashboards and alert rules: their expressions, and series that cause alerts.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findProgram } from '../scripts/programs.mjs'
import {
  ALERTS,
  DASHBOARDS,
  alertRules,
  dashboardExpressions,
} from './support/verify/named-metrics.ts'
import { makeTempFolder } from './support/temp-folder.ts'

const program = findProgram('promtool')
const TESTS = path.resolve(import.meta.dirname, 'fixtures/monitoring/alerts.test.yml')

async function promtool(...args: string[]): Promise<string> {
  if (program === undefined) throw new Error('there is no promtool')
  const { stdout, stderr } = await promisify(execFile)(program, args)
  return stdout + stderr
}

describe.skipIf(program === undefined)('promtool', () => {
  it('accepts the alert rules, and the series of the tests cause the alerts expected', async () => {
    expect(await promtool('check', 'rules', ALERTS)).toContain('SUCCESS')
    expect(await promtool('test', 'rules', TESTS)).toContain('SUCCESS')
  })

  it('accepts the expressions of the dashboards', async () => {
    const folder = makeTempFolder('dashboards')
    const file = path.join(folder, 'rules.yml')
    const rules = DASHBOARDS.flatMap(dashboardExpressions).map((expr, number) => ({
      record: `panel_${number}`,
      expr,
    }))
    expect(rules.length).toBeGreaterThan(25)
    await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
    expect(await promtool('check', 'rules', file)).toContain(`${rules.length} rules found`)
  })
})

it('explains every alert', () => {
  const operations = readFileSync(
    path.resolve(import.meta.dirname, '../docs/operations.md'),
    'utf8',
  )
  const unexplained = alertRules().filter(({ alert }) => !operations.includes(`| \`${alert}\``))
  expect(unexplained.map(({ alert }) => alert)).toEqual([])
})
