// Images and containers in a folder of their own, by buildah and podman, without a service.
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 2 ** 28
/** Trusted by npm and apt in a build, as on this machine. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

export interface Containers {
  /** Runs a command of podman, and returns what it prints. */
  podman(this: void, ...args: string[]): Promise<string>
  /** Builds an image; `args` are those of `buildah bud`, the context last. */
  build(this: void, tag: string, ...args: string[]): Promise<void>
  /** Starts a container on a network, and returns its id. `args` are those of `podman run`. */
  start(this: void, network: 'host' | 'none', ...args: string[]): Promise<string>
  /** Both output streams of a container so far. */
  logs(this: void, container: string): Promise<string>
  /** Removes the containers that were started. */
  removeAll(this: void): Promise<void>
}

/** @param folder for images and containers; they go when it is removed */
export function createContainers(folder: string): Containers {
  const storage = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')]
  const started: string[] = []
  // crun needs cgroups of version 2.
  const runtime = ['--runtime', 'runc']
  const podman = async (...args: string[]): Promise<string> => {
    const { stdout } = await run('podman', [...storage, ...runtime, ...args])
    return stdout.trim()
  }
  return {
    podman,
    async build(tag, ...args) {
      // Without namespaces, which machines without a container engine may lack.
      const flags = ['--isolation', 'chroot', '--network', 'host', '--format', 'docker']
      const mounts = ['--volume', `${CERTIFICATES}:${CERTIFICATES}:ro`]
      await run('buildah', [...storage, 'bud', ...flags, ...mounts, '--tag', tag, ...args], {
        maxBuffer: MAX_OUTPUT_BYTES,
      })
    },
    async start(network, ...args) {
      const limits = [...(await descriptorLimit()), '--ulimit', 'nproc=4096:4096']
      const flags = ['--detach', '--network', network, ...limits]
      const container = await podman('run', ...flags, ...args)
      started.push(container)
      return container
    },
    async logs(container) {
      const { stdout, stderr } = await run('podman', [...storage, 'logs', container])
      return stdout + stderr
    },
    async removeAll() {
      for (const container of started) await podman('rm', '--force', '--volumes', container)
    },
  }
}

/** That of this process: not every machine may raise it. */
async function descriptorLimit(): Promise<string[]> {
  const { stdout } = await run('sh', ['-c', 'ulimit -H -n'])
  const limit = stdout.trim()
  return limit === 'unlimited' ? [] : ['--ulimit', `nofile=${limit}:${limit}`]
}
