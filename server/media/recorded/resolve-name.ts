// What a URI in a recorder's playlist may name: a file in the playlist's own folder, or below it.
import { UnplayableError } from '../../errors.ts'
import type { PlaylistNameDefect } from '../../problem.ts'

const MAX_URI_LENGTH = 4096

/**
 * The name of the file, relative to the playlist's folder, as the storage spells it (parts joined by `/`).
 *
 * @throws AppError `unplayable` for an address, an absolute path, and what leaves the folder or is hidden
 */
export function resolveName(uri: string): string {
  if (uri.length > MAX_URI_LENGTH) throw rejected('too-long')
  if (/^[a-z][a-z0-9+.-]*:/i.test(uri) || uri.startsWith('//')) {
    throw rejected('url')
  }
  // Recorders that saved a playlist as it came leave the query of the origin's URL behind the name.
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
    // A name with a bare percent sign, as recorders write them without encoding.
    if (cause instanceof URIError) return path
    throw cause
  }
}

function rejected(defect: PlaylistNameDefect): UnplayableError {
  return new UnplayableError({ code: 'playlist-name-rejected', defect })
}
