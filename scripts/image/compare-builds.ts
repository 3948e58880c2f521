// Builds the image of the last commit twice, from checkouts that differ in their folder and in the
// times and permissions of their files, and compares the layers of the results by their digests,
// and their settings.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { check } from './checks.ts'
import type { Containers } from './containers.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const UMASKS = ['022', '077']

/** Without `Id`: buildah adds a random host name to the file that it is a digest of. */
const inspectShape = z.tuple([
  z.object({
    Created: z.string(),
    Config: z.unknown(),
    History: z.unknown(),
    RootFS: z.object({ Layers: z.array(z.string()) }),
  }),
])

/**
 * Rejects if the images differ, with the files that do.
 * @param base image of the argument NODE_IMAGE
 * @returns the digests of the layers of both
 */
export async function compareBuilds(
  { podman, build }: Containers,
  folder: string,
  base: string,
): Promise<string[]> {
  const { stdout } = await run('git', ['log', '-1', '--format=%H %ct'], { cwd: root })
  const [commit = '', time = ''] = stdout.trim().split(' ')
  const images: string[] = []
  for (const umask of UMASKS) {
    const image = `localhost/aftercast:${umask}`
    const fixed = ['--timestamp', time, '--build-arg', `NODE_IMAGE=${base}`]
    await check(`image built from a checkout with umask ${umask}`, async () => {
      const checkout = await checkOut(folder, { commit, umask })
      await build(image, '--no-cache', ...fixed, checkout)
      await rm(checkout, { recursive: true })
    })
    images.push(image)
  }
  const [first, second] = await Promise.all(
    images.map(async (image) => inspectShape.parse(JSON.parse(await podman('inspect', image)))[0]),
  )
  if (first === undefined || JSON.stringify(first) !== JSON.stringify(second)) {
    const changes = await podman('image', 'diff', ...images)
    throw new Error(`the images differ\n${JSON.stringify([first, second], null, 2)}\n${changes}`)
  }
  return first.RootFS.Layers
}

/** Files of the commit, with the time of now. */
async function checkOut(
  folder: string,
  { commit, umask }: { commit: string; umask: string },
): Promise<string> {
  const checkout = await mkdtemp(path.join(folder, 'checkout-'))
  const extract = 'tar --extract --touch --no-same-permissions --directory "$1"'
  const script = `umask ${umask} && git archive ${commit} | ${extract}`
  await run('sh', ['-e', '-c', script, 'sh', checkout], { cwd: root })
  return checkout
}
