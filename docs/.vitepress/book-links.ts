// Links between Markdown files, which are relative so that they work on GitHub, as links of the
// site. Files that are no pages, such as a configuration of nginx, are copied next to the pages.
import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MarkdownEnv, MarkdownRenderer, SiteConfig } from 'vitepress'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Paths from the root of the repository. */
const linkedFiles = new Set<string>()

/** Path of a page of the site for a Markdown file; both relative to their roots. */
export function pagePath(file: string): string {
  // docs/README.md is the first page.
  if (file === 'README.md') return 'overview.md'
  // Not that of docs/security.md in another case.
  if (file === 'SECURITY.md') return 'security-policy.md'
  return file.replace(/^docs\//, '').replace(/(?<=^|\/)README\.md$/, 'index.md')
}

/** Rewrites relative links. */
export function resolveLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('book_links', ({ tokens, env }) => {
    const folder = path.relative(root, path.dirname(sourceOf(env)))
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue
      const href = String(token.attrGet('href'))
      if (/^(?:[a-z]+:|#|\/)/i.test(href)) continue
      const [target = '', anchor] = href.split('#', 2)
      const linked = path.posix.join(folder, decodeURI(target))
      if (linked.endsWith('.md')) {
        token.attrSet('href', `/${pagePath(linked)}${anchor === undefined ? '' : `#${anchor}`}`)
      } else {
        linkedFiles.add(linked)
        token.attrSet('href', `/${filePath(linked)}`)
        // The file is not a page: the browser loads it.
        token.attrSet('target', '_self')
      }
    }
  })
}

/** The file of a page; VitePress names it `realPath` if the page has another path. */
function sourceOf({ path: page, realPath }: MarkdownEnv): string {
  return realPath ?? page
}

function filePath(file: string): string {
  return file.replace(/^docs\//, '')
}

/** Fails if a linked file does not exist. */
export async function copyLinkedFiles({ outDir }: SiteConfig): Promise<void> {
  for (const file of linkedFiles) {
    const target = path.join(outDir, filePath(file))
    await mkdir(path.dirname(target), { recursive: true })
    await copyFile(path.join(root, file), target)
  }
}
