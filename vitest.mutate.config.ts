// The tests of the modules that `npm run mutate` changes, which are next to them.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'server/media/timeline/*.test.ts',
      'server/media/ts/packets/byte-ranges.test.ts',
      'server/stream/hls/playlist/segment-{names,plan}.test.ts',
      'server/site/http/responses/byte-response.test.ts',
      'server/stream/delivery/encryption.test.ts',
      'server/library/catalog/store/hid*.test.ts',
      'server/library/catalog/names/!(session-folder).test.ts',
    ],
    setupFiles: ['test/support/mutated-properties.ts'],
  },
})
