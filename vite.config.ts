// How the page is built: web/ to static files in dist/web, with hashed names under assets/. The
// embedded player and the first script of player pages are built apart (`--mode embed`, `--mode
// first-files`), so that they share no chunk with the page: the entry of the page would be split.
import { createHash } from 'node:crypto'
import path from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { Plugin, Rolldown } from 'vite'
import { compressAssets } from './scripts/compress-assets.ts'
import { hlsFromSource } from './scripts/hls-from-source.ts'

/** Files of the embedded player. Worker and languages are equal, and have the names of the page. */
const embedFiles = {
  entryFileNames: 'assets/embed-page-[hash].js',
  chunkFileNames: ({ facadeModuleId }: { facadeModuleId?: string | null }) =>
    facadeModuleId?.includes('/web/language/') === true
      ? 'assets/[name]-[hash].js'
      : 'assets/embed-[name]-[hash].js',
  assetFileNames: ({ names }: { names: string[] }) =>
    names.some((name) => name.endsWith('.css'))
      ? 'assets/embed-[name]-[hash][extname]'
      : 'assets/[name]-[hash][extname]',
}

/** What is built apart, by mode. */
const parts = new Map<string, Rolldown.RolldownOptions>([
  ['embed', { input: 'web/embed.html', output: embedFiles }],
  [
    'first-files',
    {
      input: 'web/first-files.ts',
      output: { entryFileNames: 'assets/first-files-[hash].js' },
    },
  ],
])

/** One suffix per file, which compresses: by default, the number of the line follows it. */
function scopedName(name: string, file: string): string {
  const place = path.relative(import.meta.dirname, file)
  return `${name}_${createHash('sha256').update(place).digest('base64url').slice(0, 3)}`
}

/** Without them, the bundler omits the components of the router that the page does not use. */
const dropDisplayNames: Plugin = {
  name: 'drop-display-names',
  transform: {
    filter: { id: /\/react-router\/dist\// },
    handler: (code) =>
      code
        .replaceAll(/^\w+\.displayName = .+$/gm, '')
        .replaceAll(/= (?=React\$1\.(?:forwardRef|createContext)\()/g, '= /* @__PURE__ */ '),
  },
}

export default defineConfig(({ command, mode }) => {
  const part = parts.get(mode)
  // Otherwise a NODE_ENV of a test or shell would build React's development version, twice as
  // large.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return {
    root: 'web',
    logLevel: 'warn',
    plugins: [react(), dropDisplayNames, hlsFromSource(), compressAssets()],
    worker: { plugins: () => [hlsFromSource()] },
    // Scripts and styles find each other wherever the site is; the server rewrites the HTML.
    experimental: {
      renderBuiltUrl: (_name, { hostType }) => ({ relative: hostType !== 'html' }),
    },
    css: { modules: { generateScopedName: scopedName } },
    build: {
      outDir: '../dist/web',
      emptyOutDir: !part,
      copyPublicDir: !part,
      // The server reads which script the player needs, to name it in the head of its page.
      manifest: part ? `.vite/${mode}-manifest.json` : true,
      // Compressing takes most of the time, as it should.
      rolldownOptions: { ...part, checks: { pluginTimings: false } },
      // Their terms ask for it; the parts that are built apart use the same packages.
      license: part ? false : { fileName: 'licenses.md' },
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
