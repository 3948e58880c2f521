// The sidebar, from the lists of docs/README.md. Pure.
import path from 'node:path'
import { pagePath } from './book-links.ts'

interface Chapter {
  text: string
  link: string
}

interface Part {
  text: string
  items: Chapter[]
}

/** Parts are headings of the second level, chapters are list items that begin with a link. */
export function parseContents(markdown: string): Part[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      text: part.split('\n', 1)[0] ?? '',
      items: [...part.matchAll(/^- \[(?<text>[^\]]+)\]\((?<file>[^)]+)\)/gm)].map(({ groups }) => ({
        text: groups?.['text'] ?? '',
        link: linkOf(groups?.['file'] ?? ''),
      })),
    }))
}

function linkOf(file: string): string {
  const page = pagePath(path.posix.join('docs', file))
  return `/${page.replace(/(?:^|(?<=\/))index\.md$/, '').replace(/\.md$/, '')}`
}
