// Makes the image that the Dockerfile starts from, where no registry can be reached: Debian by
// mmdebstrap, Node from the npm package `node`, and the npm of this machine.
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Takes the place of docker.io/library/node. */
export const BASE_IMAGE = 'localhost/node:24-bookworm-slim'
const SUITE = 'bookworm'

/** @param podman runs a command with the storage for the image */
export async function makeBaseImage(
  folder: string,
  podman: (...args: string[]) => Promise<string>,
): Promise<void> {
  const archive = path.join(folder, 'base.tar')
  const npm = await findNpm()
  const hooks = [
    `upload ${process.execPath} /usr/local/bin/node`,
    'chmod 755 "$1/usr/local/bin/node"',
    'mkdir -p "$1/usr/local/lib/node_modules"',
    `copy-in ${npm} /usr/local/lib/node_modules`,
    'chroot "$1" ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    'chroot "$1" useradd --uid 1000 --create-home node',
  ].map((hook) => `--customize-hook=${hook}`)
  await importDebian({ image: BASE_IMAGE, archive, podman, packages: [], hooks })
}

interface DebianOptions {
  image: string
  /** Where its file system is written for the import. */
  archive: string
  podman: (...args: string[]) => Promise<string>
  /** Beside the smallest system. */
  packages: readonly string[]
  hooks: readonly string[]
}

/** Makes an image of Debian alone. */
export async function importDebian(options: DebianOptions): Promise<void> {
  const { image, archive, podman, packages, hooks } = options
  const included = `--include=${['ca-certificates', ...packages].join(',')}`
  await run('mmdebstrap', ['--variant=minbase', included, ...hooks, SUITE, archive], {
    maxBuffer: 2 ** 28,
  })
  // npm trusts the authorities that the build mounts from this machine.
  const trust = 'ENV=NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt'
  await podman('import', '--change', trust, archive, image)
  await rm(archive)
}

/** Folder of the package npm. */
async function findNpm(): Promise<string> {
  const own = process.env.npm_execpath
  if (own !== undefined && path.basename(own) === 'npm-cli.js') {
    return path.dirname(path.dirname(own))
  }
  const { stdout } = await run('npm', ['root', '--global'])
  return path.join(stdout.trim(), 'npm')
}
