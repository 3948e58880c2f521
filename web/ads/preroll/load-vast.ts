// Fetches VAST documents from wrapper to wrapper until there is an ad that this browser can play, or none.
import { fillMacros, requestMacros } from './macros.ts'
import { parseVast, VastError } from './vast.ts'
import type {
  InlineAd,
  LinearFollowing,
  MediaFile,
  VastDocument,
  VastErrorCode,
  WrapperAd,
} from './vast.ts'
import { withinTime } from '../../../shared/within-time.ts'

export type VastOutcome =
  | { status: 'found'; ad: PrerollAd }
  /** `errorUrls`: who wants to hear of it. */
  | { status: 'none'; code: VastErrorCode; errorUrls: string[] }

/** One ad with everything that the documents on the way to it ask to be told. */
export interface PrerollAd extends LinearFollowing {
  mediaUrl: string
  durationSeconds: number | undefined
  isSkippable: boolean
  impressionUrls: string[]
  errorUrls: string[]
}

interface LoadOptions {
  signal: AbortSignal
  /** For the whole chain. */
  timeoutMs: number
  /** Whether the browser may be able to play a MIME type. */
  canPlay: (type: string) => boolean
}

/** Wrappers followed at most (VAST 4.3, 2.3.5.1). */
const MAX_WRAPPERS = 5
/** Far more than any answer with ads has. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** The ad that the address leads to. Rejects only where the signal aborts. */
export async function loadVast(
  url: string,
  { signal, timeoutMs, canPlay }: LoadOptions,
): Promise<VastOutcome> {
  const wrappers: WrapperAd[] = []
  try {
    return await withinTime((limited) => followChain(url, { wrappers, canPlay, signal: limited }), {
      timeoutMs,
      signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    return none(codeOf(error), wrappers)
  }
}

interface Chain {
  wrappers: WrapperAd[]
  canPlay: (type: string) => boolean
  signal: AbortSignal
}

async function followChain(url: string, { wrappers, canPlay, signal }: Chain) {
  const seen = new Set<string>()
  let next = url
  for (;;) {
    if (seen.has(next)) throw new VastError(302, 'the wrappers lead in a circle')
    seen.add(next)
    const document = await fetchVast(next, signal)
    const found = chooseMedia(document, canPlay)
    if (found) return { status: 'found', ad: assembleAd(found, wrappers) } as const
    const wrapper = document.ads.find(({ kind }) => kind === 'wrapper')
    if (wrapper?.kind !== 'wrapper') return explainNone(document, wrappers)
    if (wrappers.at(-1)?.followsWrappers === false) return none(303, [...wrappers, document])
    wrappers.push(wrapper)
    if (wrappers.length > MAX_WRAPPERS) throw new VastError(302, 'too many wrappers')
    if (!wrapper.nextUrl) throw new VastError(101, 'a wrapper around nothing')
    next = wrapper.nextUrl
  }
}

async function fetchVast(url: string, signal: AbortSignal): Promise<VastDocument> {
  const response = await request(url, signal)
  const text = await readText(response)
  // What many ad servers answer where they have no ad (204, or 200 with no body).
  if (text.trim() === '') return { errorUrls: [], ads: [] }
  return parseVast(text, response.url || url)
}

async function request(url: string, signal: AbortSignal): Promise<Response> {
  const address = fillMacros(url, requestMacros())
  // Without cookies both kinds of answers are allowed: for any origin, and for ours alone.
  const response = await fetch(address, { credentials: 'omit', cache: 'no-store', signal })
  if (!response.ok) throw new VastError(301, `answered ${response.status}`)
  return response
}

/** The body, as far as it is bounded. */
async function readText(response: Response): Promise<string> {
  if (!response.body) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let sizeBytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    sizeBytes += value.byteLength
    if (sizeBytes > MAX_ANSWER_BYTES) {
      await reader.cancel()
      throw new VastError(100, 'too large an answer')
    }
    text += decoder.decode(value, { stream: true })
  }
}

interface ChosenMedia {
  inline: InlineAd
  linear: InlineAd['linears'][number]
  file: MediaFile
}

/** The first media file of the document, but for what can not be played at all. */
function chooseMedia(
  { ads }: VastDocument,
  canPlay: (type: string) => boolean,
): ChosenMedia | undefined {
  return ads
    .filter((ad) => ad.kind === 'inline')
    .flatMap((inline) =>
      inline.linears.flatMap((linear) =>
        linear.mediaFiles.map((file) => ({ inline, linear, file })),
      ),
    )
    .find(({ file }) => file.apiFramework?.toUpperCase() !== 'VPAID' && canPlayFile(file, canPlay))
}

function canPlayFile({ type }: MediaFile, canPlay: (type: string) => boolean): boolean {
  return type === undefined || canPlay(type)
}

/** Everybody on the way hears of the ad; a click leads where the document nearest to it says (VAST 4.3, 3.4.4). */
function assembleAd({ inline, linear, file }: ChosenMedia, wrappers: WrapperAd[]): PrerollAd {
  const nearestFirst = [linear, ...wrappers.toReversed()]
  return {
    mediaUrl: file.url,
    durationSeconds: linear.durationSeconds,
    isSkippable: linear.isSkippable,
    impressionUrls: [...wrappers, inline].flatMap(({ impressionUrls }) => impressionUrls),
    errorUrls: [...wrappers, inline].flatMap(({ errorUrls }) => errorUrls),
    tracking: [...wrappers, linear].flatMap(({ tracking }) => tracking),
    clickTrackingUrls: [...wrappers, linear].flatMap(({ clickTrackingUrls }) => clickTrackingUrls),
    clickThroughUrl: nearestFirst.find(({ clickThroughUrl }) => clickThroughUrl)?.clickThroughUrl,
  }
}

function explainNone(document: VastDocument, wrappers: WrapperAd[]): VastOutcome {
  const [ad] = document.ads
  return ad ? none(403, [...wrappers, ad]) : none(303, [...wrappers, document])
}

function none(code: VastErrorCode, told: { errorUrls: string[] }[]): VastOutcome {
  return { status: 'none', code, errorUrls: told.flatMap(({ errorUrls }) => errorUrls) }
}

function codeOf(error: unknown): VastErrorCode {
  // All else is a request that failed or took too long (VAST 4.3: "unavailable or reached a timeout").
  return error instanceof VastError ? error.code : 301
}
