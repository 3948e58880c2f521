import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isAppError } from '../errors.ts'
import { findWarnings, loadConfig, type ConfigSources } from './load-config.ts'
import { listConfigOptions } from './options.ts'
import { readConfigFile } from './read-config-file.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

/** A user without rights. */
const NOBODY = 65_534
const none: ConfigSources = { flags: {}, environment: {}, workingFolder: '/srv', cpuCount: 3 }

function fileOf(value: unknown): ConfigSources['file'] {
  return { path: '/etc/aftercast/aftercast.config.json', value }
}

function messageOf(sources: Partial<ConfigSources>): string {
  try {
    loadConfig({ ...none, ...sources })
  } catch (error) {
    if (isAppError(error, 'usage')) return error.message
    throw error
  }
  return 'accepted'
}

describe('loadConfig', () => {
  it('returns the documented defaults', () => {
    expect(loadConfig(none)).toEqual({
      layout: '{streamer}/{date}/{sessionId}',
      data: '/srv/aftercast-data',
      server: {
        host: '127.0.0.1',
        port: 8080,
        basePath: '',
        trustProxy: false,
        corsOrigins: [],
        metricsHosts: [],
        workers: 3,
      },
      hls: { segmentSeconds: 6, startSegmentSeconds: 2, encryption: 'aes-128', cacheMegabytes: 64 },
      chat: true,
      cluster: { jobs: true },
      renditions: { video: [], concurrency: 2 },
      limits: {},
      library: { settleSeconds: 30 },
      s3: { pathStyle: false },
      purge: { urls: [] },
      log: { level: 'info', requests: false, slowMs: 1000 },
      site: { name: 'Aftercast' },
      page: { download: false },
      feeds: { podcast: false },
      ads: { provider: 'house', hosts: {}, zones: {}, fill: 'frame' },
      analytics: { firstParty: true },
    })
  })

  it('lets flags win over environment, environment over file, file over defaults', () => {
    const file = fileOf({
      server: { port: 1, host: 'file.example' },
      library: { settleSeconds: 5 },
    })
    const environment = { PORT: '2', AFTERCAST_HOST: 'env.example' }
    const config = loadConfig({ ...none, file, environment, flags: { 'server.port': '3' } })
    expect(config.server.port).toBe(3)
    expect(config.server.host).toBe('env.example')
    expect(config.library.settleSeconds).toBe(5)
    expect(config.hls.segmentSeconds).toBe(6)
  })

  it('resolves relative folders of flags and of the file against their own base', () => {
    const file = fileOf({ recordings: 'videos', data: '../data', artifacts: 'shared' })
    const config = loadConfig({ ...none, file, flags: { recordings: './mine' } })
    expect(config.recordings).toBe('/srv/mine')
    expect(config.data).toBe('/etc/data')
    expect(config.artifacts).toMatch(/^\/etc\/.*shared$/)
  })

  it('reads numbers, truth values and lists from the environment', () => {
    const environment = {
      PORT: '0',
      AFTERCAST_TRUST_PROXY: 'true',
      AFTERCAST_CORS_ORIGINS: 'https://a.example, https://b.example:8443',
      AFTERCAST_WORKERS: '2',
    }
    expect(loadConfig({ ...none, environment }).server).toMatchObject({
      port: 0,
      trustProxy: true,
      corsOrigins: ['https://a.example', 'https://b.example:8443'],
      workers: 2,
    })
  })

  it.each([
    ['TRUE', true],
    ['false', false],
    ['1', 1],
    ['0', 0],
    ['10.0.0.0/8, ::1,fd00::/8', ['10.0.0.0/8', '::1', 'fd00::/8']],
  ])('reads server.trustProxy %s from the environment', (value, wanted) => {
    const environment = { AFTERCAST_TRUST_PROXY: value }
    expect(loadConfig({ ...none, environment }).server.trustProxy).toEqual(wanted)
    const trustProxy = typeof wanted === 'object' ? value : wanted
    const file = fileOf({ server: { trustProxy } })
    expect(loadConfig({ ...none, file }).server.trustProxy).toEqual(wanted)
  })

  it.each(['yes', 'proxy.example', '10.0.0.0/33', '10.0.0.0/0', '10.0.0', '::1/129', '1,2', '-1'])(
    'refuses server.trustProxy %s and names where it came from',
    (value) => {
      const expected = /^server\.trustProxy \(from AFTERCAST_TRUST_PROXY\): must be true, /
      expect(messageOf({ environment: { AFTERCAST_TRUST_PROXY: value } })).toMatch(expected)
    },
  )

  it('reads the lines of ads.txt from the environment, and refuses a name with a separator', () => {
    const line = 'ads.example, pub-1, DIRECT'
    const environment = {
      AFTERCAST_SITE_ADS_TXT: `# sellers\n${line}\r\n`,
      AFTERCAST_SITE_CONTACT_URL: 'mailto:a@site.example',
    }
    const expected = { contactUrl: 'mailto:a@site.example', adsTxt: ['# sellers', line, ''] }
    expect(loadConfig({ ...none, environment }).site).toMatchObject(expected)
    for (const site of [
      { name: 'A · B' },
      { name: ' ' },
      { contactUrl: 'javascript:alert(1)' },
      { adsTxt: ['a\nb'] },
    ]) {
      expect(() => loadConfig({ ...none, file: fileOf({ site }) })).toThrow('must be')
    }
  })

  it.each([
    ['/', ''],
    ['/tv', '/tv'],
    ['/tv/', '/tv'],
    ['/a.b/~c/D-1_2', '/a.b/~c/D-1_2'],
  ])('reads the base path %s without its last slash', (value, expected) => {
    const environment = { AFTERCAST_BASE_PATH: value }
    expect(loadConfig({ ...none, environment }).server.basePath).toBe(expected)
  })

  it.each(['tv', '//', '/tv//', '/a//b', '/tv?x', '/tv#x', '/..', '/a/./b', '/%74v', '/a b', '/ä'])(
    'refuses the base path %s and names where it came from',
    (value) => {
      const expected = /^server\.basePath \(from AFTERCAST_BASE_PATH\): must begin with \/ and /
      expect(messageOf({ environment: { AFTERCAST_BASE_PATH: value } })).toMatch(expected)
    },
  )

  it.each([
    ['https://a.example', '/tv', 'accepted'],
    ['https://a.example/', '/tv', 'accepted'],
    ['https://a.example/tv', '/tv', 'accepted'],
    ['https://a.example/tv/', '/tv/', 'accepted'],
    ['https://a.example/radio', '/tv', 'refused'],
    ['https://a.example/tv/more', '/tv', 'refused'],
    ['https://a.example/tv', '/', 'refused'],
  ])('the public URL %s with the base path %s is %s', (publicUrl, basePath, expected) => {
    const message = messageOf({
      environment: { AFTERCAST_PUBLIC_URL: publicUrl },
      file: fileOf({ server: { basePath } }),
    })
    const refusal = 'server.publicUrl (from AFTERCAST_PUBLIC_URL): must have no path, or that of'
    expect(message.slice(0, refusal.length)).toBe(expected === 'refused' ? refusal : 'accepted')
  })

  it('takes an empty variable as unset', () => {
    expect(loadConfig({ ...none, environment: { PORT: '' } }).server.port).toBe(8080)
  })

  it.each([
    [{ server: { prot: 80 } }, 'server.prot: unknown key (did you mean server.port?)'],
    [{ sever: { port: 80 } }, 'sever: unknown key (did you mean server?)'],
    [{ port: 80 }, 'port: unknown key (did you mean server.port?)'],
    [{ 'server.port': 80 }, 'server.port: unknown key: write { "server": { "port": … } }'],
    [
      { ads: { 'zones.video': '1' } },
      'ads.zones.video: unknown key: write { "zones": { "video": … } }',
    ],
    [{ ['x'.repeat(1000)]: 1 }, `${'x'.repeat(1000)}: unknown key`],
    [{ server: 80 }, 'server: must be an object: { … }'],
    [
      { server: { corsOrigins: ['https://a.example', 'b'] } },
      'server.corsOrigins.1 (from aftercast.config.json): must be an origin such as https://a.example, or *',
    ],
    [
      { analytics: { plausible: { domain: '' } } },
      'analytics.plausible.domain (from aftercast.config.json): must not be empty',
    ],
    ...['http://a.example', 'a.example', 7].map((host): [object, string] => [
      { ads: { hosts: { a: host } } },
      'ads.hosts.a (from aftercast.config.json): must be "https://a.example", or { "url": "http://…", "allowPrivate": true } for a host in a private network',
    ]),
    [
      { server: { metrics: '127.0.0.1:99999' } },
      'server.metrics (from aftercast.config.json): must be host:port, such as 127.0.0.1:9090',
    ],
  ])('explains what is wrong with %j', (value, message) => {
    expect(messageOf({ file: fileOf(value) })).toBe(message)
  })

  it.each([
    [
      { AFTERCAST_LAYUOT: 'obs' },
      'AFTERCAST_LAYUOT: unknown variable (did you mean AFTERCAST_LAYOUT?)',
    ],
    [{ AFTERCAST_PORT: '80' }, 'AFTERCAST_PORT: unknown variable (did you mean PORT?)'],
    [
      { AFTERCAST_DATABASE: 'x' },
      'AFTERCAST_DATABASE: unknown variable (did you mean AFTERCAST_DATABASE_URL?)',
    ],
    [
      { AFTERCAST_SERVER_BASE_PATH: '/tv' },
      'AFTERCAST_SERVER_BASE_PATH: unknown variable (did you mean AFTERCAST_BASE_PATH?)',
    ],
    [
      { AFTERCAST_ADS_VAST_URL: 'x' },
      'AFTERCAST_ADS_VAST_URL: unknown variable: set ads.vastUrl in the configuration file',
    ],
    [{ AFTERCAST_FLUX_CAPACITOR: '1' }, 'AFTERCAST_FLUX_CAPACITOR: unknown variable'],
    [
      { AFTERCAST_OPERATOR_TOKEN: 'sixteen characters' },
      'server.operatorToken: has no effect without server.metrics, the listener of /operator',
    ],
    [{ AFTERCAST_CLUSTER_JOBS: 'false' }, 'cluster.jobs: has no effect without database'],
    [
      { AFTERCAST_S3_PATH_STYLE: 'true' },
      's3.pathStyle: has no effect without recordings or artifacts in s3://bucket/prefix',
    ],
  ])('warns about %j', (environment, warning) => {
    const sources = { ...none, environment }
    expect(findWarnings(sources, loadConfig(sources))).toEqual([warning])
  })

  it('warns about ads without a provider, and about nothing that has an effect', () => {
    const warningsOf = (ads: object) => {
      const sources = { ...none, file: fileOf({ recordings: '/srv', ads }) }
      return findWarnings(sources, loadConfig(sources))
    }
    const network = { vastUrl: 'https://v.example/{zone}', insClass: 'a' }
    const missing = 'has no effect without ads.provider: network'
    expect(warningsOf(network)).toEqual([`ads.vastUrl: ${missing}`, `ads.insClass: ${missing}`])
    expect(warningsOf({ ...network, provider: 'network', fill: 'frame' })).toEqual([])
    expect(warningsOf({ provider: 'house', zones: { video: '1' } })).toEqual([])
    expect(warningsOf({ zones: { video: '1' } })).toEqual([
      'ads.zones.video: has no effect without ads.provider',
    ])
  })

  it('names an unknown key by its full path', () => {
    expect(messageOf({ file: fileOf({ ads: { zones: { top: 'x' } } }) })).toBe(
      'ads.zones.top: unknown key',
    )
    expect(messageOf({ file: fileOf(JSON.parse('{ "__proto__": { "a": 1 } }')) })).toBe(
      '__proto__: unknown key',
    )
  })

  it('has egress budgets of a usable size', () => {
    const environment = {
      AFTERCAST_LIMITS_BYTES_PER_SECOND: '125000000',
      AFTERCAST_LIMITS_BYTES_PER_SECOND_PER_CLIENT: '10000000',
    }
    expect(loadConfig({ ...none, environment }).limits).toEqual({
      bytesPerSecond: 125_000_000,
      bytesPerSecondPerClient: 10_000_000,
    })
    for (const value of ['0', '-1', '8', '1e9', '10M', '2000000.5']) {
      const message = messageOf({ environment: { AFTERCAST_LIMITS_BYTES_PER_SECOND: value } })
      expect(message, value).toBe(
        'limits.bytesPerSecond (from AFTERCAST_LIMITS_BYTES_PER_SECOND): ' +
          'must be a whole number from 10000 to 1000000000000',
      )
    }
  })

  it('names every problem at once, and where each value came from', () => {
    const message = messageOf({
      file: fileOf({ hls: { encryption: 'rot13' }, colour: 'red' }),
      environment: { PORT: 'eighty' },
      flags: { layout: '' },
    })
    expect(message.split('; ').toSorted()).toEqual([
      'colour: unknown key',
      'hls.encryption (from aftercast.config.json): must be aes-128 or none',
      'layout (from the command line): must be a path template',
      'server.port (from PORT): must be a whole number from 0 to 65535',
    ])
  })

  it.each([
    ['server.port', { server: { port: 65_536 } }],
    ['server.port', { server: { port: '80' } }],
    ['server', { server: 'localhost' }],
    ['server.trustProxy', { server: { trustProxy: 1.5 } }],
    ['server.trustProxy', { server: { trustProxy: -1 } }],
    ['server.trustProxy', { server: { trustProxy: ['10.0.0.1'] } }],
    ['server.trustProxy', { server: { trustProxy: '10.0.0.1,' } }],
    ['server.trustProxy', { server: { trustProxy: 'fe80::1%eth0' } }],
    ['server.corsOrigins.0', { server: { corsOrigins: ['https://a.example/path'] } }],
    ['purge.urls.0', { purge: { urls: ['http://user:secret@a.example'] } }],
    ['purge.urls.0', { purge: { urls: ['ftp://a.example'] } }],
    ['server.publicUrl', { server: { publicUrl: 'ftp://a.example' } }],
    ['server.publicUrl', { server: { publicUrl: 'https://user:secret@a.example' } }],
    ['server.publicUrl', { server: { publicUrl: 'https://a.example/?a=1' } }],
    ['server.publicUrl', { server: { publicUrl: 'https://a.example/#a' } }],
    ['server.publicUrl', { server: { publicUrl: 'https://a.example/ ' } }],
    ['server.metrics', { server: { metrics: 'localhost' } }],
    ['hls.segmentSeconds', { hls: { segmentSeconds: 0 } }],
    ['hls.secret', { hls: { secret: '' } }],
    ['ads.hosts.a', { ads: { hosts: { a: 'http://a.example' } } }],
    ['ads.hosts.a', { ads: { hosts: { a: { url: 'http://a.example' } } } }],
    ['recordings', { recordings: '' }],
    ['data', { data: '' }],
    ['artifacts', { artifacts: '' }],
    ['recordings', { recordings: 's3://b' }],
    ['recordings', { recordings: 'https://a.example/bucket' }],
    ['artifacts', { artifacts: 's3://b' }],
    ['artifacts', { artifacts: 'file:///srv/shared' }],
    ['s3.pathStyle', { s3: { pathStyle: 'yes' } }],
    ['ads.hosts.a/b', { ads: { hosts: { 'a/b': 'https://a.example' } } }],
    ['ads.vastUrl', { ads: { vastUrl: 'https://a.example/vast' } }],
    ['analytics.ga4', { analytics: { ga4: 'G-1"><script>' } }],
    [
      'analytics.ga4.consent.ads',
      { analytics: { ga4: { measurementId: 'G-1', consent: { ads: 'denied' } } } },
    ],
    [
      'analytics.plausible.scriptUrl',
      { analytics: { plausible: { domain: 'a', scriptUrl: 'file:///x' } } },
    ],
    ['analytics.umami', { analytics: { umami: {} } }],
  ])('refuses a bad %s', (key, value) => {
    expect(messageOf({ file: fileOf(value) })).toMatch(
      new RegExp(`^${key.replaceAll('.', '\\.')}[ :]`),
    )
  })

  it.each([
    [{ renditions: { video: ['1080p'] } }, 'renditions.video.0', 'must be one of 720p, 480p, 360p'],
    [{ analytics: { ga4: 'G 1' } }, 'analytics.ga4', 'must be a measurement id such as G-XXXXXXX'],
    [{ purge: { urls: ['a'] } }, 'purge.urls.0', 'must be an http or https URL'],
  ])('says in words what %j must be', (value, key, problem) => {
    expect(messageOf({ file: fileOf(value) })).toBe(
      `${key} (from aftercast.config.json): ${problem}`,
    )
  })

  it('leaves s3:// URLs as they are', () => {
    const environment = {
      AFTERCAST_RECORDINGS: 's3://bucket/a/b',
      AFTERCAST_ARTIFACTS: 's3://bucket/c',
      AFTERCAST_S3_PATH_STYLE: 'true',
    }
    expect(loadConfig({ ...none, environment })).toMatchObject({
      recordings: 's3://bucket/a/b',
      artifacts: 's3://bucket/c',
      s3: { pathStyle: true },
    })
  })

  it('takes a database of PostgreSQL, and never prints another one', () => {
    const database = 'postgresql://user:pass@db.example/aftercast?sslmode=require'
    expect(loadConfig({ ...none, file: fileOf({ database }) }).database).toBe(database)
    for (const url of ['mysql://u:secret@db.example/x', 'postgres://u:secret@db.example', 'x']) {
      const message = messageOf({ file: fileOf({ database: url }) })
      expect(message).toMatch(/^database \(from aftercast.config.json\): must be postgres:/)
      expect(message).not.toContain('secret')
    }
  })

  it('shows house ads only in the demo, unless configured otherwise', () => {
    const providerOf = (value: object) => loadConfig({ ...none, file: fileOf(value) }).ads.provider
    expect(providerOf({})).toBe('house')
    expect(providerOf({ recordings: '/srv/mine' })).toBe('none')
    expect(providerOf({ ads: { provider: 'none' } })).toBe('none')
    expect(providerOf({ recordings: '/srv/mine', ads: { provider: 'house' } })).toBe('house')
  })

  it('accepts a complete network, and names what is missing of an incomplete one', () => {
    const hosts = { a: 'https://a.example', b: { url: 'http://127.0.0.1:9', allowPrivate: true } }
    const whole = { vastUrl: 'https://v.example/?idzone={zone}', insClass: 'eas1', hosts }
    const ads = { provider: 'network', scriptHost: 'a', ...whole }
    expect(loadConfig({ ...none, file: fileOf({ ads }) }).ads).toMatchObject(ads)
    expect(messageOf({ environment: { AFTERCAST_ADS: 'network' } })).toBe(
      'ads.vastUrl: is required if ads.provider is network; ads.insClass: is required if ads.provider is network',
    )
    expect(messageOf({ file: fileOf({ ads: { hosts, scriptHost: 'c' } }) })).toBe(
      'ads.scriptHost (from aftercast.config.json): must be a key of ads.hosts',
    )
  })

  it('refuses a file that holds no object', () => {
    expect(messageOf({ file: fileOf(['recordings']) })).toContain('must contain one JSON object')
  })
})

describe('listConfigOptions', () => {
  it('lists every key with its environment name, and each environment name once', () => {
    const options = listConfigOptions()
    expect(options.map(({ key }) => key)).toContain('ads.zones.video')
    expect(options.find(({ key }) => key === 'server.port')).toMatchObject({
      kind: 'number',
      environment: 'PORT',
      defaultValue: 8080,
    })
    const names = options.flatMap(({ environment }) => environment ?? [])
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('readConfigFile', () => {
  let folder = ''
  beforeAll(async () => {
    folder = makeTempFolder('config')
  })
  it('returns undefined without a named or default file', async () => {
    expect(await readConfigFile({ workingFolder: path.join(folder, 'empty') })).toBeUndefined()
  })

  it('reads the default name in the working folder', async () => {
    await writeFile(path.join(folder, 'aftercast.config.json'), '{ "layout": "{streamer}/*" }')
    const file = await readConfigFile({ workingFolder: folder })
    expect(file?.value).toEqual({ layout: '{streamer}/*' })
  })

  it('needs no default file in a folder that the user may not enter', async () => {
    const closed = path.join(folder, 'closed')
    await mkdir(closed)
    await writeFile(path.join(closed, 'aftercast.config.json'), '{}')
    await chmod(closed, 0o000)
    const user = process.geteuid?.() ?? NOBODY
    if (user === 0) process.seteuid?.(NOBODY)
    try {
      expect(await readConfigFile({ workingFolder: closed })).toBeUndefined()
      const named = path.join(closed, 'aftercast.config.json')
      const wish = { named, workingFolder: folder }
      await expect(readConfigFile(wish)).rejects.toThrow('is not readable')
    } finally {
      if (user === 0) process.seteuid?.(user)
      await chmod(closed, 0o700)
    }
  })

  it.each([
    ['missing.json', undefined, 'no such file'],
    ['broken.json', '{ "layout": ', 'is not JSON'],
    ['huge.json', ' '.repeat(1024 * 1024 + 1), 'is larger than 1 MiB'],
  ])('refuses %s with the reason', async (named, content, reason) => {
    if (content !== undefined) await writeFile(path.join(folder, named), content)
    await expect(readConfigFile({ named, workingFolder: folder })).rejects.toThrow(reason)
  })

  it('refuses a folder', async () => {
    await expect(readConfigFile({ named: '.', workingFolder: folder })).rejects.toThrow(
      'is not readable',
    )
  })
})
