// `npm run image`: builds the container image without a registry and without Docker, runs it as
// compose.yaml does and under systemd, and plays its sessions in Chromium; and runs documented
// commands on a fresh Debian. On Debian, as root, with the packages buildah, podman, runc and
// mmdebstrap. `--keep DIR` leaves the images in DIR, and takes the base image from there. `--base
// IMAGE` takes the base image from a registry. `--twice` builds the image of the last commit twice,
// and compares the results.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { BASE_IMAGE, makeBaseImage } from './image/base-image.ts'
import { report } from './image/checks.ts'
import { compareBuilds } from './image/compare-builds.ts'
import { createContainers } from './image/containers.ts'
import { makeTrialLibrary } from './image/trial-library.ts'
import { tryContainer } from './image/try-container.ts'
import { tryDebian } from './image/try-debian.ts'
import { tryUnit } from './image/try-unit.ts'

const root = path.dirname(import.meta.dirname)
const IMAGE = 'localhost/aftercast:try'

const { values: options } = parseArgs({
  options: {
    keep: { type: 'string' },
    base: { type: 'string', default: BASE_IMAGE },
    twice: { type: 'boolean', default: false },
  },
})
const folder = options.keep ?? (await mkdtemp(path.join(tmpdir(), 'aftercast-image-')))
const containers = createContainers(folder)
const { podman, build, removeAll } = containers
try {
  const seconds = stopwatch()
  if (options.base === BASE_IMAGE && !(await hasImage(BASE_IMAGE))) {
    await makeBaseImage(folder, podman)
    report(`base image with Debian and Node: ${seconds()} s`)
  }
  if (options.twice) {
    const layers = await compareBuilds(containers, folder, options.base)
    report(`both builds of this commit have the layers ${layers.join(' ')}: ${seconds()} s`)
  } else {
    await build(IMAGE, '--build-arg', `NODE_IMAGE=${options.base}`, root)
    report(`image built from the Dockerfile: ${seconds()} s, ${await imageMegabytes()} MB`)
    const library = await makeTrialLibrary(folder)
    await tryContainer(containers, IMAGE, library)
    await tryUnit(containers, IMAGE, library)
    await tryDebian(containers, library)
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await removeAll()
  if (options.keep === undefined) await rm(folder, { recursive: true, force: true })
}

async function hasImage(name: string): Promise<boolean> {
  return podman('image', 'exists', name).then(
    () => true,
    () => false,
  )
}

async function imageMegabytes(): Promise<number> {
  const bytes = Number(await podman('image', 'inspect', '--format', '{{.Size}}', IMAGE))
  return Math.round(bytes / 1e6)
}

function stopwatch(): () => string {
  let sinceMs = Date.now()
  return () => {
    const seconds = ((Date.now() - sinceMs) / 1000).toFixed(0)
    sinceMs = Date.now()
    return seconds
  }
}
