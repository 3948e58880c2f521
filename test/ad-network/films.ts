// The video ads of the stand-in network: working ones, and one for each kind of failure.
import { mkdtemp, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { makeAdVideo } from './make-ad-video.ts'
import type { RecordedRequest } from './recorded-request.ts'

/** Seconds of the videos that play. The long one is longer than any overlay may be shown. */
const lengths = {
  'short.mp4': 3,
  'first.mp4': 10,
  'second.mp4': 3,
  'third.mp4': 3,
  'ten.mp4': 10,
  'long.mp4': 40,
}

export type Films = ReadonlyMap<string, Buffer>

/** Makes those that play. */
export async function makeFilms(): Promise<Films> {
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-films-'))
  const films = new Map<string, Buffer>()
  for (const [name, seconds] of Object.entries(lengths)) {
    films.set(name, await makeAdVideo(path.join(folder, name), seconds))
  }
  await rm(folder, { recursive: true })
  return films
}

/** Responds to a request for `/media/{name}`, with a range where it names one. Query: `cors`. */
export function sendFilm(films: Films, request: RecordedRequest, response: ServerResponse): void {
  const name = path.posix.basename(request.path)
  if (name === 'hanging.mp4') return
  if (request.query.has('cors')) response.setHeader('access-control-allow-origin', '*')
  response.setHeader('content-type', 'video/mp4')
  if (name === 'text.mp4') return void response.end('This is not a video.')
  const ten = films.get('ten.mp4')
  if (name === 'half.mp4' && ten) return sendHalf(ten, response)
  if (name === 'corrupt.mp4' && ten) return void response.end(corrupt(ten))
  const film = films.get(name)
  if (!film) return void response.writeHead(404).end()
  sendRange(film, request.headers.range, response)
}

/** Announces the whole length, and stops in the middle. */
function sendHalf(film: Buffer, response: ServerResponse): void {
  response.writeHead(200, { 'content-length': film.length })
  response.write(film.subarray(0, film.length / 2))
}

/** The first of its frames are intact. */
function corrupt(film: Buffer): Buffer {
  const frames = film.indexOf('mdat')
  return Buffer.from(film).fill(0xa5, frames + (film.length - frames) / 5)
}

function sendRange(film: Buffer, range: string | undefined, response: ServerResponse): void {
  response.setHeader('accept-ranges', 'bytes')
  const { first, last } = /^bytes=(?<first>\d+)-(?<last>\d*)$/.exec(range ?? '')?.groups ?? {}
  if (first === undefined) return void response.end(film)
  const start = Number(first)
  const end = last ? Math.min(Number(last), film.length - 1) : film.length - 1
  response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${film.length}` })
  response.end(film.subarray(start, end + 1))
}
