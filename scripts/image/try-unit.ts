// Runs the documented unit under systemd, in a container of its own with the program of the image.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findFreePort } from '../../test/support/servers/free-port.ts'
import { check, expectReady, expectStatus, expectText } from './checks.ts'
import type { Containers } from './containers.ts'
import { playInBrowser } from './play-in-browser.ts'
import type { TrialLibrary } from './trial-library.ts'

const IMAGE = 'localhost/aftercast-systemd:try'
const DEPLOY = path.resolve(import.meta.dirname, '../../docs/deploy')
const SETTINGS = '/etc/aftercast'

/** Debian with systemd, the user of the documentation, and the command `aftercast`. */
const dockerfile = (image: string): string => `
FROM ${image}
USER 0:0
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends systemd systemd-sysv
RUN useradd --system --home-dir /var/lib/aftercast --shell /usr/sbin/nologin aftercast \\
  && chmod 755 /app/dist/server/main.js && ln -s /app/dist/server/main.js /usr/local/bin/aftercast
COPY aftercast.service /etc/systemd/system/
RUN systemctl enable aftercast
HEALTHCHECK NONE
ENTRYPOINT ["/sbin/init"]
CMD []
`

export async function tryUnit(
  { podman, build, start }: Containers,
  image: string,
  { folder, recordings, sessions }: TrialLibrary,
): Promise<void> {
  const file = path.join(folder, 'systemd.Dockerfile')
  await writeFile(file, dockerfile(image))
  await build(IMAGE, '--file', file, DEPLOY)
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const settings = path.join(folder, 'settings')
  await mkdir(settings, { recursive: true })
  const lines = ['AFTERCAST_RECORDINGS=/srv/recordings', 'AFTERCAST_DATA=/var/lib/aftercast']
  await writeFile(path.join(settings, 'environment'), [...lines, `PORT=${port}`, ''].join('\n'))
  const volumes = [`${recordings}:/srv/recordings:ro`, `${settings}:${SETTINGS}`]
  const mounts = volumes.flatMap((volume) => ['--volume', volume])
  const container = await start('host', '--privileged', '--systemd=always', ...mounts, IMAGE)
  const inside = async (...command: string[]) => podman('exec', container, ...command)
  const readLog = async () => inside('journalctl', '--unit', 'aftercast', '--no-pager')

  await expectReady(readLog)
  const thumbnail = `${url}/api/thumbnail/${sessions[0]}`
  await check('unit: decodes a thumbnail', () => expectStatus(thumbnail, 200))
  for (const session of sessions) {
    const page = `${url}/p/${session}`
    await check(`unit: ${session} plays in Chromium`, () => playInBrowser(page))
  }
  await check('unit: commands have its configuration', async () => {
    const hide = inside('runuser', '--user', 'aftercast', '--', 'aftercast', 'hide', 'nobody')
    await expectText(hide, 'nobody is hidden in /var/lib/aftercast')
  })
  await check('unit: its decoders have all restrictions', async () => {
    if ((await readLog()).includes('lacks')) throw new Error(await readLog())
  })
  await check('unit: has no capability, and cannot gain one', async () => {
    const pid = await inside('systemctl', 'show', 'aftercast', '--property=MainPID', '--value')
    const status = await inside('cat', `/proc/${pid}/status`)
    for (const line of [/^CapBnd:\s+0+$/m, /^NoNewPrivs:\s+1$/m, /^Seccomp:\s+2$/m]) {
      if (!line.test(status)) throw new Error(status)
    }
  })
  await check('unit: ends', async () => {
    await inside('systemctl', 'stop', 'aftercast')
    const result = inside('systemctl', 'show', 'aftercast', '--property=Result', '--value')
    await expectText(result, 'success')
  })
}
