// Validates sitemaps: the schema of sitemaps.org, with one for the elements of videos.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { validateXML } from 'xmllint-wasm'

const root = path.resolve(import.meta.dirname, '../../..')
const SCHEMAS = [
  {
    name: 'sitemap.xsd',
    file: 'node_modules/sitemap/schema/sitemap.xsd',
    namespace: 'http://www.sitemaps.org/schemas/sitemap/0.9',
  },
  {
    name: 'video-elements.xsd',
    file: 'test/fixtures/schemas/video-elements.xsd',
    namespace: 'http://www.google.com/schemas/sitemap-video/1.1',
  },
]

/** What is not valid in a sitemap; nothing of a valid one. */
export async function sitemapProblems(xml: string): Promise<string[]> {
  const imports = SCHEMAS.map(
    ({ name, namespace }) => `<import namespace="${namespace}" schemaLocation="${name}"/>`,
  )
  const preload = await Promise.all(
    SCHEMAS.map(async ({ name, file }) => ({
      fileName: name,
      contents: await readFile(path.join(root, file), 'utf8'),
    })),
  )
  const { errors } = await validateXML({
    xml: { fileName: 'sitemap.xml', contents: xml },
    schema: `<schema xmlns="http://www.w3.org/2001/XMLSchema">${imports.join('')}</schema>`,
    preload,
  })
  return errors.map(({ rawMessage }) => rawMessage)
}
