// The documentation as a site: `npm run docs` builds the Markdown files to dist/docs,
// static files that work below any path. The contents of docs/README.md are its sidebar.
import { readFileSync } from 'node:fs'
import { slug } from 'github-slugger'
import { defineConfig } from 'vitepress'
import { copyLinkedFiles, pagePath, resolveLinks } from './book-links.ts'
import { parseContents } from './contents.ts'

const contents = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

export default defineConfig({
  title: 'Aftercast',
  description: 'A public web viewer for recorded live streams: the documentation.',
  base: './',
  srcDir: '..',
  outDir: '../dist/docs',
  // All Markdown files are pages: documents link to those of folders of code.
  srcExclude: ['dist/**', 'test/fixtures/**'],
  // Files named config.ts in folders of code are not of these pages.
  additionalConfig: {},
  rewrites: pagePath,
  markdown: {
    // Links to headings work here as on GitHub.
    anchor: { slugify: slug },
    config: resolveLinks,
  },
  // That of the root is for the page of Aftercast.
  vite: { configFile: false },
  buildEnd: copyLinkedFiles,
  themeConfig: {
    sidebar: parseContents(contents),
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
  },
})
