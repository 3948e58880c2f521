// Generates the icons of the site in web/public from web/favicon.svg: `node scripts/make-icons.ts`.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { findProgram } from './programs.mjs'
import { formatIco } from './ico.ts'

const root = path.dirname(import.meta.dirname)
const folder = path.join(root, 'web/public')
/** Sizes of bookmarks, tabs and shortcuts, in pixels. */
const icoSizes = [16, 32, 48]

interface Icon {
  file: string
  size: number
  /** `rounded`: as drawn. `square`: without corners, for systems that crop icons themselves. */
  shape: 'rounded' | 'square'
  /** Width of the drawing, of the icon's width; less for icons that are cropped to a circle. */
  scale: number
}

const icons: Icon[] = [
  { file: 'apple-touch-icon.png', size: 180, shape: 'square', scale: 1 },
  { file: 'icon-192.png', size: 192, shape: 'rounded', scale: 1 },
  { file: 'icon-512.png', size: 512, shape: 'rounded', scale: 1 },
  { file: 'icon-maskable-512.png', size: 512, shape: 'square', scale: 0.8 },
]

const executablePath = findProgram('Chromium')
if (executablePath === undefined) throw new Error('The icons need Chromium.')
const svg = await readFile(path.join(root, 'web/favicon.svg'), 'utf8')
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage()
  await mkdir(folder, { recursive: true })
  for (const icon of icons) await writeFile(path.join(folder, icon.file), await draw(page, icon))
  const images = []
  for (const size of icoSizes) {
    images.push({ size, png: await draw(page, { size, shape: 'rounded', scale: 1 }) })
  }
  await writeFile(path.join(folder, 'favicon.ico'), formatIco(images))
} finally {
  await browser.close()
}

async function draw(page: Page, { size, shape, scale }: Omit<Icon, 'file'>): Promise<Buffer> {
  await page.setViewportSize({ width: size, height: size })
  await page.setContent(`<style>
    html { background: ${shape === 'square' ? backgroundOf(svg) : 'transparent'} }
    body { margin: 0; block-size: 100vh; display: grid; place-items: center }
    svg { inline-size: ${scale * 100}% }
    ${shape === 'square' ? 'rect { rx: 0 }' : ''}
  </style>${svg}`)
  return page.screenshot({ omitBackground: true })
}

/** Colour of the square that the drawing is on. */
function backgroundOf(drawing: string): string {
  const colour = /<rect [^>]*fill="(?<colour>[^"]+)"/.exec(drawing)?.groups?.colour
  if (colour === undefined) throw new Error('web/favicon.svg has no background')
  return colour
}
