// Unit tests of server, shared and web next to their files, and integration tests in test/.
import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { shareCompileCache } from './scripts/compile-cache.mjs'
import { hlsFromSource } from './scripts/hls-from-source.ts'
import { findProgram, findPrograms } from './scripts/programs.mjs'
import { patienceMs, soon } from './test/support/patience.ts'

shareCompileCache()

/** The longest files; started last, one of them would run alone at the end. */
const LONGEST = [
  'test/bench-smoke',
  'test/cluster-equality',
  'test/releases',
  'test/hls-exactness',
  'test/object-storage',
  'test/cluster-failures',
  'server/cluster/replication/node',
  'server/demo/demo-library',
  'test/corrupt-recordings',
  'test/media-bombs',
  'test/library-changes',
]

/** Files that need servers which this machine may lack; `npm test` names those. */
const LACKING = [
  ...(findPrograms('Ceph') === undefined
    ? [
        'server/storage/recordings/s3/s3-storage.test.ts',
        'server/storage/artifacts/artifact-stores.test.ts',
        'test/{artifacts,object-storage}.test.ts',
        'test/cluster-{equality,failures}.test.ts',
      ]
    : []),
  ...(findProgram('PostgreSQL') === undefined || findProgram('PgBouncer') === undefined
    ? [
        'server/cluster/*/*.test.ts',
        'test/simulation/*.test.ts',
        'test/{cluster,cluster-*,migrate-to-database}.test.ts',
      ]
    : []),
]

/** Files that measure their process, or change all of it: its memory, or the page in jsdom. */
const ALONE = [
  'server/media/{hostile,segment-costs,*/long-*}.test.ts',
  'server/{media/codec/subtitle-file,decode/thumbnails/sidecar-size}.test.ts',
  'server/library/{catalog/names/layout,metadata/chat-files}.test.ts',
  'server/storage/recordings/s3/http-get.test.ts',
]

/** Those of them whose modules Vite transforms: for the page, or to replace one. */
const ALONE_IN_VITE = [
  'server/stream/hls/session/hls-recording.test.ts',
  'web/{*,ads/pages-with-ads}.test.tsx',
  'web/language/*.test.{ts,tsx}',
]

/** Files that request from servers, and leave nothing in their own process. */
const CLIENTS = [
  'test/{activity,ad-errors,admission,api,around,base-path,behaviour,cache-tags,chat}.test.ts',
  'test/{deploy-files,discovery,edge-limits,egress,embeds,fixture-outcomes}.test.ts',
  'test/{frame-times,hidden-addresses,hide,metrics,monitoring,operator,podcasts}.test.ts',
  'test/{purging,recorded-playlists,replaced-recordings,segment-cache}.test.ts',
  'test/{segment-starts,session-*,spec-map,storyboards}.test.ts',
]

const IN_JSDOM = '// @vitest-environment jsdom\n'

/** Long files first, then those that start programs, those in jsdom, and all others. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const longest = LONGEST.findIndex((name) => moduleId.includes(`/${name}.`))
      if (longest !== -1) return longest
      if (/\/test\/[^/]+$/.test(moduleId)) return LONGEST.length
      // A process has one environment: files take turns in few processes if they follow each other.
      return LONGEST.length + (readFileSync(moduleId, 'utf8').startsWith(IN_JSDOM) ? 1 : 2)
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

const project = {
  setupFiles: ['patient-dom', 'property-seed', 'end-after-tests'].map(
    (name) => `test/support/${name}.ts`,
  ),
  // For tests that hang: how long a test takes depends on what else the machine does.
  testTimeout: 5 * patienceMs,
  hookTimeout: 5 * patienceMs,
  expect: { poll: soon },
  // Tests wait for programs part of the time: three fill two processors.
  maxWorkers: 3,
  // Tests that run at the same time in one file wait nearly all of their time.
  maxConcurrency: 30,
} as const

/** Node imports the modules itself, as in the program. */
const native = { experimental: { viteModuleRunner: false, nodeLoader: false } } as const

const EXCLUDED = ['**/node_modules/**', 'test/e2e/**', ...LACKING]

export default defineConfig({
  test: {
    globalSetup: ['test/support/build-page.ts', 'test/support/stop-postgres.ts'],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          ...project,
          ...native,
          name: 'parts',
          include: ['{server,shared,scripts}/**/*.test.ts'],
          exclude: [...EXCLUDED, ...ALONE, ...ALONE_IN_VITE],
          // Modules of these folders have no state: a process runs many files, and loads them once.
          isolate: false,
        },
      },
      {
        plugins: [hlsFromSource()],
        test: {
          ...project,
          name: 'page',
          include: ['web/**/*.test.{ts,tsx}'],
          exclude: [...EXCLUDED, ...ALONE_IN_VITE],
          // What ends last is listed first.
          setupFiles: ['test/page/clear-page.ts', ...project.setupFiles],
          isolate: false,
        },
      },
      {
        test: {
          ...project,
          ...native,
          name: 'clients',
          include: CLIENTS,
          exclude: EXCLUDED,
          isolate: false,
        },
      },
      {
        test: {
          ...project,
          ...native,
          name: 'whole',
          include: ['test/**/*.test.ts', ...ALONE],
          exclude: [...EXCLUDED, ...CLIENTS],
        },
      },
      {
        plugins: [hlsFromSource()],
        test: { ...project, name: 'alone', include: ALONE_IN_VITE, exclude: EXCLUDED },
      },
    ],
  },
})
