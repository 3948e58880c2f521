// `npm run bench -- storyboard`: all sheets of a storyboard, compared with ffmpeg that decodes key
// frames, and with ffmpeg that decodes every frame, as Jellyfin does; and the first sheet of ten
// hours.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import path from 'node:path'
import { storyboardApiPath } from '../../shared/paths.ts'
import { makeLongMp4 } from '../../test/support/make/make-long-mp4.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { watchOthers } from '../disturbance.ts'
import {
  describeMachine,
  hasProgram,
  readEndedChildrenSeconds,
  readProcessSeconds,
} from '../machine.ts'
import { ensureMedia } from '../make-media.ts'
import { DISTURBED_SHARE } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'
import { loadForgetFile } from './cold-file.ts'
import type { ForgetFile } from './cold-file.ts'

const DAY = { streamer: 'bench', date: '2026-01-31' }
const MADE_SECONDS = 1_769_900_000
/** Length of the long recording. */
const LONG_SECONDS = { real: 36_000, smoke: 600 } as const
/** ffmpeg's filters for the same sheets. */
const SHEETS = 'scale=160:-2,tile=5x5'

/** A library with two recordings, `movie` and `long`. */
interface Place {
  args: string[]
  storyboards: string
  images: string
  files: Record<'movie' | 'long', string>
  forget: ForgetFile | undefined
}

interface Storyboard {
  stepSeconds: number
  tiles: number
  sheets: string[]
}

interface Sample {
  seconds: number
  cpuSeconds: number
  othersShare: number
}

/** Prints the tables. */
export async function benchStoryboard(options: BenchOptions): Promise<void> {
  const scratch = mkdtempSync(path.join(options.cache, 'storyboard-'))
  try {
    const place = await prepare(scratch, options)
    const storyboard = await withServer(place, async (server) => {
      await readStoryboard(server, 'long')
      return readStoryboard(server, 'movie')
    })
    const rows = createRows(place, storyboard)
    const samples = rows.map((): Sample[] => [])
    for (let round = 0; round < options.rounds; round += 1) {
      for (const [i, row] of rows.entries()) samples[i]?.push(await row.measure())
    }
    for (const line of describeMachine([])) console.log(line)
    const names = rows.map(({ name }) => name)
    for (const line of report({ ...options, names, samples, storyboard })) console.log(line)
    for (const line of await reportFirstSheets(place, options)) console.log(line)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function prepare(scratch: string, options: BenchOptions): Promise<Place> {
  const { outputs } = await ensureMedia(options, ['mp4'])
  const [movie] = outputs
  if (movie === undefined) throw new Error('no recording was made')
  const files = { movie: movie.path, long: await ensureLong(movie.path, options) }
  const library = path.join(scratch, 'library')
  const day = path.join(library, DAY.streamer, DAY.date)
  const images = path.join(scratch, 'images')
  mkdirSync(day, { recursive: true })
  mkdirSync(images)
  for (const [name, file] of Object.entries(files)) linkSync(file, path.join(day, `${name}.mp4`))
  const data = path.join(scratch, 'data')
  return {
    args: [library, '--data', data],
    storyboards: path.join(data, 'storyboards'),
    images,
    files,
    forget: loadForgetFile(),
  }
}

/** One GOP of the source, listed again and again in the tables. */
async function ensureLong(sourcePath: string, options: BenchOptions): Promise<string> {
  const seconds = options.isSmoke ? LONG_SECONDS.smoke : LONG_SECONDS.real
  const file = path.join(options.cache, `long-v1-${options.pictureHeight}p-${seconds}s.mp4`)
  if (existsSync(file)) return file
  await makeLongMp4({ sourcePath, path: `${file}.part`, seconds })
  utimesSync(`${file}.part`, MADE_SECONDS, MADE_SECONDS)
  renameSync(`${file}.part`, file)
  return file
}

/** A process without decoded tiles in memory or sheets on disk. */
async function withServer<Value>(
  { args, storyboards }: Place,
  work: (server: StartedServer) => Promise<Value>,
): Promise<Value> {
  rmSync(storyboards, { recursive: true, force: true })
  const server = await startServer({ args, environment: { AFTERCAST_WORKERS: '1' } })
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

async function readStoryboard(server: StartedServer, sessionId: string): Promise<Storyboard> {
  const url = server.url + storyboardApiPath({ ...DAY, sessionId })
  const text = (await fetchBytes(url)).toString()
  const names = new Set(Array.from(text.matchAll(/^tile-[^#]+/gm), ([name]) => name))
  const [, end = ''] = /--> \d+:(\d\d:\d\d)/.exec(text) ?? []
  const [minutes = 0, seconds = 0] = end.split(':').map(Number)
  return {
    stepSeconds: 60 * minutes + seconds,
    tiles: text.split('-->').length - 1,
    sheets: Array.from(names, (name) => new URL(name, url).pathname),
  }
}

async function fetchBytes(url: string): Promise<Buffer> {
  const response = await fetch(url)
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(`${response.status} for ${url}`)
  return bytes
}

interface Row {
  name: string
  measure: () => Promise<Sample>
}

function createRows(place: Place, { stepSeconds, sheets }: Storyboard): Row[] {
  const ours = async (): Promise<Sample> =>
    withServer(place, async (server) => {
      const work = async (): Promise<void> => {
        for (const sheet of sheets) await fetchBytes(server.url + sheet)
      }
      return measure(work, () => readProcessSeconds(server.pid))
    })
  const theirs = async (decoding: string[], filter: string): Promise<Sample> => {
    const output = ['-an', '-sn', '-vf', `${filter},${SHEETS}`, '-q:v', '5', '-f', 'image2']
    const args = [...decoding, '-i', place.files.movie, ...output, `${place.images}/%d.jpg`]
    return measure(async () => runFfmpeg(args), readEndedChildrenSeconds)
  }
  // Without `fps`, each key frame in turn would be a tile.
  const everyStep = `fps=1/${stepSeconds}`
  const rows: Row[] = [{ name: 'ours', measure: ours }]
  if (!hasProgram('ffmpeg')) return rows
  return [
    ...rows,
    {
      name: 'ffmpeg, key frames',
      measure: async () => theirs(['-skip_frame', 'nokey'], everyStep),
    },
    { name: 'ffmpeg, all frames', measure: async () => theirs([], everyStep) },
  ]
}

async function runFfmpeg(args: string[]): Promise<void> {
  const child = spawn('ffmpeg', ['-v', 'error', '-y', ...args], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`ffmpeg ended with ${String(code)}`)
}

async function measure(work: () => Promise<void>, readCpu: () => number): Promise<Sample> {
  const othersShare = watchOthers()
  const cpu = readCpu()
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  return { seconds, cpuSeconds: readCpu() - cpu, othersShare: othersShare() }
}

interface Results extends Pick<BenchOptions, 'rounds' | 'mediaSeconds' | 'pictureHeight'> {
  names: string[]
  samples: Sample[][]
  storyboard: Storyboard
}

function report({ names, samples, storyboard, ...options }: Results): string[] {
  const { tiles, stepSeconds } = storyboard
  const cpuOf = (row: Sample[]): number => median(row.map(({ cpuSeconds }) => cpuSeconds))
  const ours = cpuOf(samples[0] ?? [])
  return [
    [
      `${options.mediaSeconds / 60} minutes of ${options.pictureHeight}p, ${tiles} tiles, one each`,
      `${stepSeconds} s. ${options.rounds} rounds; medians. *: rounds in which others used over`,
      `${DISTURBED_SHARE * 100} % of the processors`,
    ].join(' '),
    ...formatTable([
      ['storyboard', 'tiles/s', 'seconds', 'CPU s', 'CPU, ours = 1', '*'],
      ...samples.map((row, i) => {
        const seconds = median(row.map((sample) => sample.seconds))
        const disturbed = row.filter(({ othersShare }) => othersShare > DISTURBED_SHARE)
        return [
          names[i] ?? '',
          (tiles / seconds).toFixed(1),
          seconds.toFixed(2),
          cpuOf(row).toFixed(2),
          (cpuOf(row) / ours).toFixed(1),
          String(disturbed.length),
        ]
      }),
    ]),
    ...(samples.length === 1 ? ['ffmpeg is not installed.'] : []),
  ]
}

/** Of a process that has just started, and of recordings that are not in the page cache. */
async function reportFirstSheets(place: Place, options: BenchOptions): Promise<string[]> {
  const rows: string[][] = []
  for (const [name, file] of Object.entries(place.files)) {
    const storyboards: number[] = []
    const sheets: number[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      await withServer(place, async (server) => {
        place.forget?.(file)
        const started = performance.now()
        const {
          sheets: [first = ''],
        } = await readStoryboard(server, name)
        storyboards.push(performance.now() - started)
        await fetchBytes(server.url + first)
        sheets.push(performance.now() - started)
      })
    }
    const figures = [median(storyboards), median(sheets), Math.max(...sheets)]
    rows.push([name, ...figures.map((ms) => ms.toFixed(0))])
  }
  return [
    '',
    'Milliseconds from the first request of a new process, recording not in the page cache:',
    ...formatTable([['recording', 'storyboard.vtt', 'first sheet', 'longest'], ...rows]),
  ]
}
