// `npm test`: prepares the clone and a browser, runs every gate and every test, and ends with the
// line `N passed, N failed`. A gate counts as one test; every test of Vitest and Playwright counts.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import {
  PrepareError,
  ensureBuilt,
  ensureInstalled,
  findRuntime,
  npmProgram,
  root,
  run,
} from './prepare.mjs'
import { runGates } from './gates.mjs'
import { findHeadlessChromium, findProgram, packagesOf, programSets } from './programs.mjs'

/**
 * @typedef {import('./test-report.ts').TestReport} TestReport
 * @typedef {{ name: string, script: string, report: string }} Step
 */

/** Time limit of a step. A step that exceeds it has failed. */
const stepLimitMs = 30 * 60_000
const servicePolicy = '/usr/sbin/policy-rc.d'
/** Seed of property tests: no change fails for a fault of another one that chance has found. */
const fixedSeed = '20260131'
/** Lines of each failure in the summary. */
const reasonLines = 20

/** Scripts of package.json, the longest first. */
const gates = [
  'types',
  'lint',
  'docs',
  'build:server',
  'knip',
  'links',
  'style',
  'format:check',
  'size',
]

/** Each uses all processors. */
const steps = [
  { name: 'unit', script: 'unit:report', report: 'test-results/unit.json' },
  { name: 'e2e', script: 'e2e', report: 'test-results/e2e.json' },
]

/** Programs that a machine may lack. */
const otherPrograms = programSets.filter((name) => !name.includes('Chromium'))

/**
 * The one update of the package lists, if it was necessary.
 * @type {Promise<void> | undefined}
 */
let packageLists

try {
  await ensureInstalled()
  findRuntime()
  // Tests of the whole server serve the page.
  await ensureBuilt()
  await ensureChromium()
  await runAll(await ensureOtherPrograms())
} catch (error) {
  if (!(error instanceof PrepareError)) throw error
  process.stderr.write(`${error.message}\n`)
  conclude([{ passed: 0, failures: [{ name: 'preparation', reason: error.message }], slowest: [] }])
}

/** @param {string[]} missing names of the programs that this machine lacks */
async function runAll(missing) {
  process.stdout.write('\n── gates\n')
  const gateResults = await runGates(gates, stepLimitMs)
  /** @type {(TestReport & { name: string, seconds: string })[]} */
  const results = gateResults.map(({ gate, isPassed, seconds }) => ({
    name: gate,
    passed: isPassed ? 1 : 0,
    failures: isPassed ? [] : [{ name: gate, reason: 'its output is above' }],
    slowest: [],
    seconds,
  }))
  for (const step of steps) {
    process.stdout.write(`\n── ${step.name}\n`)
    const startMs = Date.now()
    const report = await runStep(step)
    results.push({
      name: step.name,
      ...report,
      seconds: ((Date.now() - startMs) / 1000).toFixed(1),
    })
  }
  const allFailures = results.flatMap(({ failures }) => failures)
  if (allFailures.length > 0) process.stdout.write(`\n── what failed\n`)
  for (const { name, reason } of allFailures) {
    process.stdout.write(`\n${name}\n${shorten(reason).replaceAll(/^/gm, '    ')}\n`)
  }
  process.stdout.write('\n')
  for (const { name, passed, failures, seconds } of results) {
    const mark = failures.length === 0 ? 'ok    ' : 'FAILED'
    const counts = [passed, failures.length].map((count) => String(count).padStart(5))
    const step = `${mark} ${name.padEnd(12)} ${seconds.padStart(6)} s`
    process.stdout.write(`${step} ${counts[0]} passed ${counts[1]} failed\n`)
  }
  for (const name of missing) process.stdout.write(`skipped  ${name}: not installed\n`)
  printSlowest(results)
  conclude(results)
}

/**
 * Runs the tests of one runner. The numbers of its report count; a failure outside of its report
 * counts as one.
 * @param {Step} step
 * @returns {Promise<TestReport>}
 */
async function runStep({ name, script, report }) {
  const file = path.join(root, report)
  rmSync(file, { force: true })
  const { program, first } = npmProgram()
  const { code, signal } = await run(program, [...first, 'run', '--silent', script], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TEST_SEED: process.env.TEST_SEED ?? fixedSeed },
    timeout: stepLimitMs,
  })
  const ending = { name, reason: `ended with ${code ?? signal}; its output is above` }
  const failed = { passed: 0, failures: [ending], slowest: [] }
  if (!existsSync(file)) return failed
  /** @type {TestReport} */
  const { passed, failures, slowest } = JSON.parse(readFileSync(file, 'utf8'))
  const isComplete = failures.length > 0 || (code === 0 && passed > 0)
  return { passed, failures: isComplete ? failures : [ending], slowest }
}

/**
 * Prints the ten slowest test files of all runners. Their times overlap: files run concurrently.
 * @param {TestReport[]} results
 */
function printSlowest(results) {
  const slowest = results
    .flatMap((result) => result.slowest)
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 10)
  process.stdout.write('slowest files\n')
  for (const { file, seconds } of slowest) {
    process.stdout.write(`${seconds.toFixed(1).padStart(7)} s ${file}\n`)
  }
}

/**
 * The first lines of a runner's message, without colours and without its own stack frames.
 * @param {string} reason
 */
function shorten(reason) {
  const lines = stripVTControlCharacters(reason).split('\n')
  const own = lines.filter((line) => !line.includes('/node_modules/'))
  return own.slice(0, reasonLines).join('\n')
}

/** Requires a Chromium; on Debian, root installs it, and the headless shell for faster tests. */
async function ensureChromium() {
  if (!findProgram('Chromium')) await installPackages('Chromium')
  if (!findProgram('Chromium')) {
    throw new PrepareError(
      'The browser tests need Chromium, and none was found: ' +
        'install it, or set AFTERCAST_CHROMIUM to its path.',
    )
  }
  const isSame = findHeadlessChromium() === findProgram('Chromium')
  if (isSame && !process.env.AFTERCAST_CHROMIUM)
    await installPackages('the headless shell of Chromium')
}

/**
 * Finds the other programs, or installs them where that is possible.
 * @returns {Promise<string[]>} names of those that are missing; with CI=true that is an error
 */
async function ensureOtherPrograms() {
  for (const name of otherPrograms) if (!findProgram(name)) await installPackages(name)
  const missing = otherPrograms.filter((name) => !findProgram(name))
  if (missing.length > 0 && process.env.CI === 'true') {
    throw new PrepareError(`The tests need ${missing.join(' and ')}: install what is missing.`)
  }
  return missing
}

/**
 * On Debian, as root; elsewhere it does nothing.
 * @param {import('./programs.mjs').ProgramSet} name
 */
async function installPackages(name) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  process.stderr.write(`Installing ${name} for the tests, once…\n`)
  try {
    packageLists ??= apt(['update'])
    await packageLists
    await withoutServices(() =>
      apt(['install', '--yes', '--no-install-recommends', ...packagesOf(name)]),
    )
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error
    process.stderr.write(`${error.message}\n`)
  }
}

/**
 * Debian starts servers when it installs them, unless this program forbids it: see invoke-rc.d(8).
 * @param {() => Promise<void>} install
 */
async function withoutServices(install) {
  if (existsSync(servicePolicy)) return install()
  writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    await install()
  } finally {
    rmSync(servicePolicy)
  }
}

/** @param {string[]} args */
async function apt(args) {
  const { code } = await run('apt-get', ['--quiet=2', ...args], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: stepLimitMs,
  })
  if (code !== 0) throw new PrepareError(`apt-get ${args[0]} failed; its output is above.`)
}

/** @param {TestReport[]} results */
function conclude(results) {
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  const failed = results.reduce((sum, result) => sum + result.failures.length, 0)
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
