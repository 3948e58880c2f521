// Build step of the page: compresses its files once, at the highest level.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** Below this size the compressed form is not smaller. */
const MIN_COMPRESSED_BYTES = 1024
const TEXT = /\.(?:css|js|svg)$/

/** Writes `NAME.br` and `NAME.gz` next to every text file of the built assets. */
export function compressAssets(): Plugin {
  return {
    name: 'compress-assets',
    apply: 'build',
    async writeBundle({ dir }) {
      if (dir === undefined) throw new Error('the page is built to a folder')
      await compressFolder(path.join(dir, 'assets'))
    },
  }
}

/** Compresses the text files in a folder, except small ones and those that are compressed. */
export async function compressFolder(folder: string): Promise<void> {
  const all = new Set(await readdir(folder))
  const names = [...all].filter((name) => TEXT.test(name) && !all.has(`${name}.br`))
  await Promise.all(names.map((name) => compressFile(path.join(folder, name))))
}

async function compressFile(file: string): Promise<void> {
  const bytes = await readFile(file)
  if (bytes.length < MIN_COMPRESSED_BYTES) return
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  await writeFile(`${file}.br`, await compressBrotli(bytes, { params }))
  await writeFile(`${file}.gz`, await compressGzip(bytes, { level: constants.Z_BEST_COMPRESSION }))
}
