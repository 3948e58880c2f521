// Makes a clone ready to run: installs packages, finds a Node that is new enough, builds the page.
// Plain JavaScript for Node 18 without packages, because it runs before they are installed. What is
// done already costs a few milliseconds.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

const oldestNode = 24
const installStamp = path.join(root, 'node_modules', '.aftercast-installed')
const buildStamp = path.join(root, 'dist', '.web-built')
const pageSources = [
  'web',
  'shared',
  'vite.config.ts',
  'scripts/compress-assets.ts',
  'scripts/hls-from-source.ts',
  'package-lock.json',
]

/** A failure that is printed as one line. */
export class PrepareError extends Error {
  exitCode = 1
}

/**
 * Installs the locked packages unless they are installed. The stamp is removed first and written
 * last, so an interrupted install does not count as done. Linked node_modules belong to another
 * clone and are not changed.
 */
export async function ensureInstalled() {
  if (isLink(path.join(root, 'node_modules'))) return
  const expected = fingerprint(
    ['package.json', 'package-lock.json'],
    [process.platform, process.arch],
  )
  if (readStamp(installStamp) === expected) return
  rmSync(installStamp, { force: true })
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-progress']
  // `engines` is that of the published package: a clone starts with an older Node and installs a
  // newer one. `npm pack --dry-run` must not leave the stamp without packages.
  const lenient = ['--include=dev', '--engine-strict=false', '--dry-run=false']
  const install = ['ci', ...lenient, ...quiet]
  await timed('Installing packages, once', () =>
    // npm leaves out optional packages that the Node which runs it is too old for.
    npm(
      isNewEnough()
        ? install
        : ['exec', '--yes', `--package=${nodePackage()}`, '--', 'npm', ...install],
    ),
  )
  writeStamp(installStamp, expected)
}

/**
 * Path of a Node that is new enough: the running one, else that of the npm package `node`.
 * @returns {string}
 */
export function findRuntime() {
  if (isNewEnough()) return process.execPath
  const packaged = path.join(root, 'node_modules', 'node', 'bin', nodeName())
  if (existsSync(packaged)) return packaged
  throw new PrepareError(
    `Aftercast needs Node ${oldestNode} or newer: this is Node ${process.versions.node}, ` +
      'and the npm package "node" has no newer one for this machine. ' +
      'Install it from https://nodejs.org and start again.',
  )
}

function isNewEnough() {
  const [major = '0'] = process.versions.node.split('.')
  return Number(major) >= oldestNode
}

/** The Node of package.json. */
function nodePackage() {
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  return `node@${devDependencies.node}`
}

/** Builds the page into dist/web unless it was built from the same sources. */
export async function ensureBuilt() {
  const expected = fingerprint(pageSources, [process.env.VITE_API_BASE ?? ''])
  const page = path.join(root, 'dist', 'web', 'index.html')
  if (readStamp(buildStamp) === expected && existsSync(page)) return
  rmSync(buildStamp, { force: true })
  await timed('Building the page', () =>
    npm(['run', '--silent', 'build:web', '--', '--logLevel', 'warn']),
  )
  writeStamp(buildStamp, expected)
}

/**
 * Runs npm in the root of the project; rejects when it fails.
 * @param {string[]} args
 */
export async function npm(args) {
  const { program, first } = npmProgram()
  // Output of npm goes to stderr: stdout is for the output of the program.
  const { code } = await run(program, [...first, ...args], { stdio: ['ignore', 2, 2] })
  if (code !== 0) throw new PrepareError(`npm ${args[0]} failed; its output is above.`)
}

/** The npm that runs this script, with its version and registry; else the one on the path. */
export function npmProgram() {
  const own = process.env.npm_execpath ?? ''
  if (path.basename(own) === 'npm-cli.js') return { program: process.execPath, first: [own] }
  return { program: process.platform === 'win32' ? 'npm.cmd' : 'npm', first: [] }
}

/**
 * Runs a program in the root of the project until it ends.
 * @param {string} program
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null }>}
 */
export function run(program, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, ...options })
    child.once('error', (cause) => {
      reject(new PrepareError(`${program} could not be started: ${cause.message}`, { cause }))
    })
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
}

/**
 * Prints what a long task is, and how long it took.
 * @param {string} label
 * @param {() => Promise<void>} work
 */
async function timed(label, work) {
  const begin = Date.now()
  process.stderr.write(`${label}…\n`)
  await work()
  process.stderr.write(`${label}: done in ${((Date.now() - begin) / 1000).toFixed(1)} s\n`)
}

/**
 * A hash of the names and contents of files and folders, and of other values.
 * @param {string[]} names
 * @param {string[]} values
 */
function fingerprint(names, values) {
  const hash = createHash('sha256')
  for (const file of names.flatMap(filesBelow).sort()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update('\0')
  }
  return hash.update(values.join('\0')).digest('hex')
}

/**
 * The file itself, or every file in a folder and its subfolders; none where the name does not
 * exist.
 * @param {string} name
 * @returns {string[]}
 */
function filesBelow(name) {
  const target = path.join(root, name)
  if (!existsSync(target)) return []
  if (!lstatSync(target).isDirectory()) return [name]
  return readdirSync(target).flatMap((entry) => filesBelow(path.join(name, entry)))
}

/** @param {string} file */
function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/**
 * @param {string} file
 * @param {string} value
 */
function writeStamp(file, value) {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, value)
  renameSync(`${file}.new`, file)
}

/** @param {string} target */
function isLink(target) {
  return lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

function nodeName() {
  return process.platform === 'win32' ? 'node.exe' : 'node'
}
