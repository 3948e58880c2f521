// `npm test`: prepares the clone and a browser, runs every gate and every test, and ends with the line `N passed, N failed`.
// A gate counts as one; of vitest and Playwright each test counts.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { findChromium } from './find-chromium.mjs'
import { findFirefox } from './find-firefox.mjs'
import { findWebKit } from './find-webkit.mjs'
import { PrepareError, ensureInstalled, findRuntime, npmProgram, root, run } from './prepare.mjs'

/**
 * @typedef {{ passed: number, failed: number }} Count
 * @typedef {{ name: string, script: string, report?: string, count?: (json: string) => Count }} Step
 */

/** Longest time of one step, after which it is ended and counts as failed. */
const stepLimitMs = 12 * 60_000

/**
 * The page is built before the tests, because those of the whole server serve it.
 * @type {Step[]}
 */
const steps = [
  { name: 'format', script: 'format:check' },
  { name: 'lint', script: 'lint' },
  { name: 'types', script: 'types' },
  { name: 'unused', script: 'knip' },
  { name: 'style', script: 'style' },
  { name: 'build', script: 'build' },
  { name: 'size', script: 'size' },
  { name: 'unit', script: 'unit:report', report: 'test-results/unit.json', count: countUnit },
  { name: 'e2e', script: 'e2e', report: 'test-results/e2e.json', count: countE2e },
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
  process.env.AFTERCAST_CHROMIUM = await ensureChromium()
  await runAll(await ensureOtherEngines())
} catch (error) {
  if (!(error instanceof PrepareError)) throw error
  process.stderr.write(`${error.message}\n`)
  conclude({ passed: 0, failed: 1 })
}

/** @param {string[]} missing names of engines that this machine has not */
async function runAll(missing) {
  /** @type {(Count & { name: string, seconds: string })[]} */
  const results = []
  for (const step of steps) {
    process.stdout.write(`\n── ${step.name}\n`)
    const begin = Date.now()
    const count = await runStep(step)
    results.push({ name: step.name, ...count, seconds: ((Date.now() - begin) / 1000).toFixed(1) })
  }
  process.stdout.write('\n')
  for (const { name, passed, failed, seconds } of results) {
    const mark = failed === 0 ? 'ok    ' : 'FAILED'
    const numbers = `${String(passed).padStart(5)} passed ${String(failed).padStart(3)} failed`
    process.stdout.write(`${mark} ${name.padEnd(8)} ${seconds.padStart(6)} s ${numbers}\n`)
  }
  for (const name of missing) process.stdout.write(`skipped  ${name}: not on this machine\n`)
  conclude(sum(results))
}

/**
 * Runs one step; what its report says counts, and where it failed beyond its report, that counts as one more.
 * @param {Step} step
 * @returns {Promise<Count>}
 */
async function runStep({ script, report, count }) {
  const file = report && path.join(root, report)
  if (file) rmSync(file, { force: true })
  const { program, first } = npmProgram()
  const ended = await run(program, [...first, 'run', '--silent', script], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: stepLimitMs,
  })
  const gate = ended.code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
  if (!file || !count) return gate
  if (!existsSync(file)) return { passed: 0, failed: 1 }
  const counted = count(readFileSync(file, 'utf8'))
  if (counted.failed === 0 && gate.failed > 0) return { passed: counted.passed, failed: 1 }
  if (counted.passed === 0 && counted.failed === 0) return { passed: 0, failed: 1 }
  return counted
}

/**
 * @param {string} json
 * @returns {Count}
 */
function countUnit(json) {
  /** @type {{ numPassedTests: number, numFailedTests: number }} */
  const report = JSON.parse(json)
  return { passed: report.numPassedTests, failed: report.numFailedTests }
}

/**
 * A test that passed only when tried again has failed.
 * @param {string} json
 * @returns {Count}
 */
function countE2e(json) {
  /** @type {{ stats: { expected: number, unexpected: number, flaky: number } }} */
  const { stats } = JSON.parse(json)
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky }
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

/**
 * @param {Count[]} counts
 * @returns {Count}
 */
function sum(counts) {
  return {
    passed: counts.reduce((total, { passed }) => total + passed, 0),
    failed: counts.reduce((total, { failed }) => total + failed, 0),
  }
}

/** @param {Count} total */
function conclude({ passed, failed }) {
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
