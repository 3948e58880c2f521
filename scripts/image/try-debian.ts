// Runs the commands of the documents that need a Debian of their own, as they are written: the npm
// package, made by this clone, as a service with Caddy as its proxy, in a container without a
// network.
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { IMAGE_SCRIPT, listShellBlocks } from '../shell-blocks.ts'
import { BASE_IMAGE, importDebian } from './base-image.ts'
import { check, expectReady } from './checks.ts'
import type { Containers } from './containers.ts'
import type { TrialLibrary } from './trial-library.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const DEBIAN = 'localhost/debian-systemd:bookworm'
const INSTALLED = 'localhost/aftercast-debian:try'
/** The folder of the tarball. */
const FOLDER = '/root'
/** Lines that need a network: they run while the image is built. */
const NEEDS_NETWORK = /^(?:apt-get|npm) /

/** Runs each block on the system that its first command is for. */
export async function tryDebian(containers: Containers, library: TrialLibrary): Promise<void> {
  const { podman } = containers
  const trial = { containers, library }
  const packages = ['systemd', 'systemd-sysv']
  const archive = path.join(library.folder, 'debian.tar')
  await importDebian({ image: DEBIAN, archive, podman, packages, hooks: [] })
  let container = ''
  for (const [line, ...lines] of listBlocks()) {
    const rest = lines.filter((other) => !NEEDS_NETWORK.test(other))
    const network = [line, ...lines].filter((other) => NEEDS_NETWORK.test(other))
    const title = `debian: ${line}${lines.length > 0 ? ' …' : ''}`
    if (line === 'npm pack') {
      await check(title, () => run('npm', ['pack', '--pack-destination', library.folder], IN_ROOT))
    } else if (line.startsWith('npm install ')) {
      const image = 'localhost/aftercast-node:try'
      const tried = [...network, 'aftercast --version']
      await check(title, () => buildImage({ base: BASE_IMAGE, image, lines: tried }, trial))
    } else if (line.startsWith('apt-get ')) {
      await check(title, () =>
        buildImage({ base: DEBIAN, image: INSTALLED, lines: network }, trial),
      )
      container = await tryService(rest, trial)
    } else if (line.startsWith('useradd ')) {
      container = await tryService([line, ...lines], trial)
    } else {
      await check(title, () => podman('exec', container, ...shell([line, ...lines])))
    }
  }
}

const IN_ROOT = { cwd: root, maxBuffer: 2 ** 24 }

/** The commands of each block, one per line. */
function listBlocks(): [string, ...string[]][] {
  const exclude = (name: string): boolean => /^(?:node_modules|dist|\..*)$/.test(name)
  const documents = globSync('**/*.md', { cwd: root, exclude }).map((name) =>
    readFileSync(path.join(root, name), 'utf8'),
  )
  return documents
    .flatMap(listShellBlocks)
    .filter(({ runBy }) => runBy === IMAGE_SCRIPT)
    .map(({ commands }) => {
      const [first = '', ...rest] = commands.replaceAll('\\\n', ' ').trim().split('\n')
      return [first, ...rest]
    })
}

interface Trial {
  containers: Containers
  library: TrialLibrary
}

async function buildImage(
  { base, image, lines }: { base: string; image: string; lines: string[] },
  { containers, library: { folder } }: Trial,
): Promise<void> {
  const file = path.join(folder, 'debian.Dockerfile')
  const [tarball = ''] = globSync('aftercast-*.tgz', { cwd: folder })
  const text = [
    `FROM ${base}`,
    `WORKDIR ${FOLDER}`,
    `COPY ${tarball} .`,
    ...lines.map((line) => `RUN ${line}`),
    'ENTRYPOINT ["/sbin/init"]',
  ]
  await writeFile(file, `${text.join('\n')}\n`)
  await containers.build(image, '--file', file, folder)
}

/** Runs commands that install the service on a Debian with the package; returns the container. */
async function tryService(lines: string[], { containers, library }: Trial): Promise<string> {
  const { podman, start } = containers
  const volume = ['--volume', `${library.recordings}:/srv/recordings:ro`]
  const container = await start('none', '--privileged', '--systemd=always', ...volume, INSTALLED)
  const inside = async (...command: string[]) => podman('exec', container, ...command)
  for (const line of lines) await check(`debian: ${line}`, () => inside(...shell([line])))
  await expectReady(async () => inside('journalctl', '--unit', 'aftercast', '--no-pager'))
  const [session] = library.sessions
  const hasProxy = lines.some((line) => line.includes('install-service.sh'))
  const origin = hasProxy ? `https://${HOST}` : 'http://127.0.0.1:8080'
  const targets = [`p/${session}`, `api/video/${session}/playlist.m3u8`, `api/thumbnail/${session}`]
  for (const target of targets) {
    await check(`debian: ${origin}/${target} responds`, () =>
      inside('env', AUTHORITY, 'node', '--input-type=module', '--eval', requestOf(origin, target)),
    )
  }
  if (hasProxy) {
    await check('debian: may be installed again', () => inside(...shell(lines)))
  }
  return container
}

/** For the host name of the documents: Caddy certifies this one itself. */
const HOST = 'localhost'
const AUTHORITY =
  'NODE_EXTRA_CA_CERTS=/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt'

function shell(lines: string[]): string[] {
  const script = lines.join('\n').replaceAll('streams.example', HOST)
  return ['sh', '-e', '-c', `cd ${FOLDER}\n${script}`]
}

function requestOf(origin: string, target: string): string {
  return `const { ok, status } = await fetch('${origin}/${target}')
    if (!ok) throw new Error(String(status))`
}
