// Checks a URI in a recorder's playlist: it must name a file in the playlist's folder or below.
import { UnplayableError } from '../../base/errors.ts'
import type { PlaylistNameDefect } from '../../base/problem.ts'

const MAX_URI_LENGTH = 4096

/**
 * The file name relative to the playlist's folder, with `/` as its separator.
 *
 * @param uri undefined if the attribute is missing, despite the types of the parser
 * @throws UnplayableError for an absolute URL or path, a name outside of the folder, and a
 *   hidden file
 */
export function resolveName(uri = ''): string {
  if (uri.length > MAX_URI_LENGTH) throw rejected('too-long')
  if (/^[a-z][a-z0-9+.-]*:/i.test(uri) || uri.startsWith('//')) {
    throw rejected('url')
  }
  // Recorders that copy the origin's playlist leave the query in the name.
  const [path = ''] = uri.split(/[?#]/)
  if (path === '') throw rejected('empty')
  const parts = decode(path).split('/')
  const plain = parts.filter((part, i) => part !== '.' && (part !== '' || i === 0))
  if (plain.length === 0) throw rejected('folder')
  for (const part of plain) {
    if (part === '' || part === '..' || part.includes('\\')) throw rejected('outside-folder')
    if (part.startsWith('.')) throw rejected('hidden')
    if (part.includes('\0')) throw rejected('malformed')
  }
  return plain.join('/')
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (cause) {
    // A name with an unencoded percent sign, which some recorders write.
    if (cause instanceof URIError) return path
    throw cause
  }
}

function rejected(defect: PlaylistNameDefect): UnplayableError {
  return new UnplayableError({ code: 'playlist-name-rejected', defect })
}
