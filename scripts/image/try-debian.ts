// Installs the npm package on a Debian without Node by the commands of the documentation, as a
// service with Caddy as its proxy, in a container without a network.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { importDebian } from './base-image.ts'
import { check, expectReady } from './checks.ts'
import type { Containers } from './containers.ts'
import type { TrialLibrary } from './trial-library.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const DEBIAN = 'localhost/debian-systemd:bookworm'
const IMAGE = 'localhost/aftercast-debian:try'

/** The first two commands of docs/deploy/README.md, with the package of this clone. */
const dockerfile = (archive: string): string => `
FROM ${DEBIAN}
COPY ${archive} /tmp/
RUN apt-get update -qq \\
  && apt-get install --yes -qq --no-install-recommends npm caddy
RUN npm install --global node@24 node-av@6 /tmp/${archive}
ENTRYPOINT ["/sbin/init"]
`

export async function tryDebian(
  { podman, build, start }: Containers,
  { folder, recordings, sessions }: TrialLibrary,
): Promise<void> {
  const packages = ['systemd', 'systemd-sysv']
  const archive = path.join(folder, 'debian.tar')
  await importDebian({ image: DEBIAN, archive, podman, packages, hooks: [] })
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: root,
  })
  const file = path.join(folder, 'debian.Dockerfile')
  await writeFile(file, dockerfile(stdout.trim()))
  await build(IMAGE, '--file', file, folder)

  const volume = ['--volume', `${recordings}:/srv/recordings:ro`]
  const container = await start('none', '--privileged', '--systemd=always', ...volume, IMAGE)
  const inside = async (...command: string[]) => podman('exec', container, ...command)
  const script = 'exec sh "$(npm root --global)/aftercast/docs/deploy/install-service.sh" localhost'
  await check('debian: installs the service', () => inside('sh', '-c', script))
  await expectReady(async () => inside('journalctl', '--unit', 'aftercast', '--no-pager'))
  const [session] = sessions
  const targets = [`p/${session}`, `api/video/${session}/playlist.m3u8`, `api/thumbnail/${session}`]
  for (const target of targets) {
    await check(`debian: https://localhost/${target} responds`, () =>
      inside('env', AUTHORITY, 'node', '--input-type=module', '--eval', requestOf(target)),
    )
  }
  await check('debian: may be installed again', () => inside('sh', '-c', script))
}

/** Caddy has certified `localhost` itself. */
const AUTHORITY =
  'NODE_EXTRA_CA_CERTS=/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt'

function requestOf(target: string): string {
  return `const { ok, status } = await fetch('https://localhost/${target}')
    if (!ok) throw new Error(String(status))`
}
