// Runs the image as compose.yaml does, and checks what it can do and cannot do.
import { randomUUID } from 'node:crypto'
import { chown, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { findFreePort } from '../../test/support/servers/free-port.ts'
import { check, expectReady, expectStatus, expectText } from './checks.ts'
import type { Containers } from './containers.ts'
import { playInBrowser } from './play-in-browser.ts'
import type { TrialLibrary } from './trial-library.ts'

/** The user of the image. */
const USER = 1000
const RIGHTS = '--read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges'.split(' ')

export async function tryContainer(
  { podman, start, logs }: Containers,
  image: string,
  { folder, recordings, sessions }: TrialLibrary,
): Promise<void> {
  const data = path.join(folder, 'data')
  await mkdir(data, { recursive: true })
  await chown(data, USER, USER)
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const volumes = ['--volume', `${recordings}:/recordings:ro`, '--volume', `${data}:/data`]
  const environment = ['--env', 'AFTERCAST_HOST=127.0.0.1', '--env', `PORT=${port}`]
  const container = await start('host', ...RIGHTS, ...volumes, ...environment, image)
  const inside = async (...command: string[]) => podman('exec', container, ...command)
  const readLog = async () => logs(container)

  await expectReady(readLog)
  await check('container: its health check', () => podman('healthcheck', 'run', container))
  await check('container: is not root', () => expectText(inside('id', '-u'), String(USER)))
  for (const place of ['/', '/app', '/recordings']) {
    await check(`container: cannot write to ${place}`, async () =>
      expectFailure(inside('touch', path.join(place, randomUUID()))),
    )
  }
  const thumbnail = `${url}/api/thumbnail/${sessions[0]}`
  await check('container: decodes a thumbnail', () => expectStatus(thumbnail, 200))
  for (const session of sessions) {
    const page = `${url}/p/${session}`
    await check(`container: ${session} plays in Chromium`, () => playInBrowser(page))
  }
  await check('container: its decoders have all restrictions', async () => {
    if ((await readLog()).includes('lacks')) throw new Error(await readLog())
  })
  await check('container: ends on SIGTERM', async () => {
    await podman('stop', '--time', '20', container)
    await expectText(podman('inspect', '--format', '{{.State.ExitCode}}', container), '0')
  })
}

async function expectFailure(command: Promise<string>): Promise<void> {
  const hasFailed = await command.then(
    () => false,
    () => true,
  )
  if (!hasFailed) throw new Error('it succeeded')
}
