// The tests of the modules that `npm run mutate` changes, which are next to them.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'server/media/timeline/*.test.ts',
      'server/media/ts/packets/byte-ranges.test.ts',
      'server/hls/playlist/segment-{names,plan}.test.ts',
      'server/http/responses/byte-response.test.ts',
      'server/delivery/encryption.test.ts',
      'server/catalog/store/hid*.test.ts',
      'server/catalog/names/!(session-folder).test.ts',
    ],
    setupFiles: ['test/support/mutated-properties.ts'],
  },
})
