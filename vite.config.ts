// How the page is built: web/ to static files in dist/web, with hashed names under assets/.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressAssets } from './scripts/compress-assets.ts'

export default defineConfig(({ command }) => {
  // Otherwise a NODE_ENV of a test or shell would build React's development version, twice as
  // large.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return {
    root: 'web',
    plugins: [react(), compressAssets()],
    build: {
      outDir: '../dist/web',
      emptyOutDir: true,
      // The server reads which script the player needs, to name it in the head of its page.
      manifest: true,
      target: ['chrome123', 'firefox120', 'safari17.5'],
      // Data URIs would need wider img-src and worker-src rules in the Content-Security-Policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // The player chunk is hls.js itself; .size-limit.json guards its size.
      chunkSizeWarningLimit: 500,
    },
    server: {
      host: '127.0.0.1',
      proxy: { '/api': 'http://127.0.0.1:8080' },
    },
  }
})
