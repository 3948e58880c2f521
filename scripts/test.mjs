// `npm test`: prepares the clone and a browser, runs every gate and every test, and ends with the line `N passed, N failed`.
// A gate counts as one; of vitest and Playwright each test counts.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { findChromium } from './find-chromium.mjs'
import { findFirefox } from './find-firefox.mjs'
import { findWebKit } from './find-webkit.mjs'
import {
  PrepareError,
  ensureBuilt,
  ensureInstalled,
  findRuntime,
  npmProgram,
  root,
  run,
} from './prepare.mjs'

/**
 * @typedef {import('./test-report.ts').TestReport} TestReport
 * @typedef {{ name: string, script: string, report?: string }} Step
 */

/** Longest time of one step, after which it is ended and counts as failed. */
const stepLimitMs = 30 * 60_000
/** Of a failure, told again at the end. */
const reasonLines = 20

/** @type {Step[]} */
const steps = [
  { name: 'format', script: 'format:check' },
  { name: 'lint', script: 'lint' },
  { name: 'types', script: 'types' },
  { name: 'unused', script: 'knip' },
  { name: 'style', script: 'style' },
  { name: 'build', script: 'build:server' },
  { name: 'size', script: 'size' },
  { name: 'unit', script: 'unit:report', report: 'test-results/unit.json' },
  { name: 'e2e', script: 'e2e', report: 'test-results/e2e.json' },
]

/** The engines that some machines cannot have, and the Debian packages that bring them. */
const otherEngines = [
  { name: 'Firefox', find: findFirefox, packages: ['firefox-esr'] },
  {
    name: 'WebKitGTK',
    find: findWebKit,
    packages: [
      'webkit2gtk-driver',
      'xvfb',
      'gstreamer1.0-libav',
      'gstreamer1.0-plugins-base',
      'gstreamer1.0-plugins-good',
      'gstreamer1.0-plugins-bad',
    ],
  },
]

try {
  await ensureInstalled()
  findRuntime()
  // Tests of the whole server serve it.
  await ensureBuilt()
  process.env.AFTERCAST_CHROMIUM = await ensureChromium()
  await runAll(await ensureOtherEngines())
} catch (error) {
  if (!(error instanceof PrepareError)) throw error
  process.stderr.write(`${error.message}\n`)
  conclude([{ passed: 0, failures: [{ name: 'preparation', reason: error.message }] }])
}

/** @param {string[]} missing names of engines that this machine has not */
async function runAll(missing) {
  /** @type {(TestReport & { name: string, seconds: string })[]} */
  const results = []
  for (const step of steps) {
    process.stdout.write(`\n── ${step.name}\n`)
    const begin = Date.now()
    const report = await runStep(step)
    results.push({ name: step.name, ...report, seconds: ((Date.now() - begin) / 1000).toFixed(1) })
  }
  const allFailures = results.flatMap(({ failures }) => failures)
  if (allFailures.length > 0) process.stdout.write(`\n── what failed\n`)
  for (const { name, reason } of allFailures) {
    process.stdout.write(`\n${name}\n${shorten(reason).replaceAll(/^/gm, '    ')}\n`)
  }
  process.stdout.write('\n')
  for (const { name, passed, failures, seconds } of results) {
    const mark = failures.length === 0 ? 'ok    ' : 'FAILED'
    const numbers = `${String(passed).padStart(5)} passed ${String(failures.length).padStart(3)} failed`
    process.stdout.write(`${mark} ${name.padEnd(8)} ${seconds.padStart(6)} s ${numbers}\n`)
  }
  for (const name of missing) process.stdout.write(`skipped  ${name}: not on this machine\n`)
  conclude(results)
}

/**
 * Runs one step; what its report says counts, and where it failed beyond its report, that counts as one more.
 * @param {Step} step
 * @returns {Promise<TestReport>}
 */
async function runStep({ name, script, report }) {
  const file = report && path.join(root, report)
  if (file) rmSync(file, { force: true })
  const { program, first } = npmProgram()
  const { code, signal } = await run(program, [...first, 'run', '--silent', script], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: stepLimitMs,
  })
  const ending = { name, reason: `ended with ${code ?? signal}; what it wrote is above` }
  if (!file) return code === 0 ? { passed: 1, failures: [] } : { passed: 0, failures: [ending] }
  if (!existsSync(file)) return { passed: 0, failures: [ending] }
  /** @type {TestReport} */
  const { passed, failures } = JSON.parse(readFileSync(file, 'utf8'))
  const isTold = failures.length > 0 || (code === 0 && passed > 0)
  return { passed, failures: isTold ? failures : [ending] }
}

/**
 * The beginning of what a test runner says, without its colours and its own part of the stack.
 * @param {string} reason
 */
function shorten(reason) {
  const lines = stripVTControlCharacters(reason).split('\n')
  const own = lines.filter((line) => !line.includes('/node_modules/'))
  return own.slice(0, reasonLines).join('\n')
}

/**
 * Finds a Chromium; on Debian, root installs one.
 * @returns {Promise<string>}
 */
async function ensureChromium() {
  if (!findChromium()) await installPackages('Chromium', ['chromium'])
  const found = findChromium()
  if (found) return found
  throw new PrepareError(
    'The browser tests need Chromium, and there is none: install it, or name one in AFTERCAST_CHROMIUM.',
  )
}

/**
 * Finds the other engines, or installs them where that is possible.
 * @returns {Promise<string[]>} names of those that this machine has not; with CI=true there may be none
 */
async function ensureOtherEngines() {
  for (const { name, find, packages } of otherEngines) {
    if (!find()) await installPackages(name, packages)
  }
  const missing = otherEngines.filter(({ find }) => !find()).map(({ name }) => name)
  if (missing.length > 0 && process.env.CI === 'true') {
    throw new PrepareError(`The tests need ${missing.join(' and ')}: install what is missing.`)
  }
  return missing
}

/**
 * On Debian, as root; elsewhere nothing happens.
 * @param {string} what
 * @param {string[]} packages
 */
async function installPackages(what, packages) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  process.stderr.write(`Installing ${what} for the browser tests, once…\n`)
  try {
    await apt(['update'])
    await apt(['install', '--yes', '--no-install-recommends', ...packages])
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error
    process.stderr.write(`${error.message}\n`)
  }
}

/** @param {string[]} args */
async function apt(args) {
  const { code } = await run('apt-get', ['--quiet=2', ...args], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: stepLimitMs,
  })
  if (code !== 0) throw new PrepareError(`apt-get ${args[0]} failed; what it said is above.`)
}

/** @param {TestReport[]} results */
function conclude(results) {
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  const failed = results.reduce((sum, result) => sum + result.failures.length, 0)
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
