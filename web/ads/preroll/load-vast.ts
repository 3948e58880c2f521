// Fetches VAST documents, follows wrappers, and selects a media file that this browser can play.
import { fillMacros, requestMacros } from './macros.ts'
import { parseVast, VastError } from './vast.ts'
import type {
  InlineAd,
  LinearEvents,
  MediaFile,
  VastDocument,
  VastErrorCode,
  WrapperAd,
} from './vast.ts'
import { withTimeout } from '../../../shared/with-timeout.ts'

export type VastOutcome =
  | { status: 'found'; ad: PrerollAd }
  /** `errorUrls` receive the code. */
  | { status: 'none'; code: VastErrorCode; errorUrls: string[] }

/** One ad, with the tracking URLs of all documents of its chain. */
export interface PrerollAd extends LinearEvents {
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
  /** Whether the browser can probably play a MIME type. */
  canPlay: (type: string) => boolean
}

/** VAST 4.3, 2.3.5.1. */
const MAX_WRAPPERS = 5
/** Far above any real document. */
const MAX_DOCUMENT_BYTES = 1024 * 1024

/** Loads the ad of a VAST URL. Rejects only if the signal aborts. */
export async function loadVast(
  url: string,
  { signal, timeoutMs, canPlay }: LoadOptions,
): Promise<VastOutcome> {
  const wrappers: WrapperAd[] = []
  try {
    return await withTimeout(
      (limited) => followChain(url, { wrappers, canPlay, signal: limited }),
      {
        timeoutMs,
        signal,
      },
    )
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
    if (seen.has(next)) throw new VastError(302, 'the wrappers form a cycle')
    seen.add(next)
    const document = await fetchVast(next, signal)
    const found = chooseMedia(document, canPlay)
    if (found) return { status: 'found', ad: assembleAd(found, wrappers) } as const
    const wrapper = document.ads.find(({ kind }) => kind === 'wrapper')
    if (wrapper?.kind !== 'wrapper') return explainNone(document, wrappers)
    if (wrappers.at(-1)?.followsWrappers === false) return none(303, [...wrappers, document])
    wrappers.push(wrapper)
    if (wrappers.length > MAX_WRAPPERS) throw new VastError(302, 'too many wrappers')
    if (!wrapper.nextUrl) throw new VastError(101, 'a wrapper without VASTAdTagURI')
    next = wrapper.nextUrl
  }
}

async function fetchVast(url: string, signal: AbortSignal): Promise<VastDocument> {
  const response = await request(url, signal)
  const text = await readText(response)
  // Many ad servers respond so without an ad (204, or 200 with an empty body).
  if (text.trim() === '') return { errorUrls: [], ads: [] }
  return parseVast(text, response.url || url)
}

async function request(url: string, signal: AbortSignal): Promise<Response> {
  const address = fillMacros(url, requestMacros())
  // Without credentials, `access-control-allow-origin` may be `*` or this origin.
  const response = await fetch(address, { credentials: 'omit', cache: 'no-store', signal })
  if (!response.ok) throw new VastError(301, `status ${response.status}`)
  return response
}

/** The body as text. Throws if it exceeds the limit. */
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
    if (sizeBytes > MAX_DOCUMENT_BYTES) {
      await reader.cancel()
      throw new VastError(100, 'the document is too large')
    }
    text += decoder.decode(value, { stream: true })
  }
}

interface ChosenMedia {
  inline: InlineAd
  linear: InlineAd['linears'][number]
  file: MediaFile
}

/** The first media file that is not VPAID and that the browser can play. */
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

/** Merges the chain's tracking; the innermost click-through applies (VAST 4.3, 3.4.4). */
function assembleAd({ inline, linear, file }: ChosenMedia, wrappers: WrapperAd[]): PrerollAd {
  const innermostFirst = [linear, ...wrappers.toReversed()]
  return {
    mediaUrl: file.url,
    durationSeconds: linear.durationSeconds,
    isSkippable: linear.isSkippable,
    impressionUrls: [...wrappers, inline].flatMap(({ impressionUrls }) => impressionUrls),
    errorUrls: [...wrappers, inline].flatMap(({ errorUrls }) => errorUrls),
    tracking: [...wrappers, linear].flatMap(({ tracking }) => tracking),
    clickTrackingUrls: [...wrappers, linear].flatMap(({ clickTrackingUrls }) => clickTrackingUrls),
    clickThroughUrl: innermostFirst.find(({ clickThroughUrl }) => clickThroughUrl)?.clickThroughUrl,
  }
}

function explainNone(document: VastDocument, wrappers: WrapperAd[]): VastOutcome {
  const [ad] = document.ads
  return ad ? none(403, [...wrappers, ad]) : none(303, [...wrappers, document])
}

function none(code: VastErrorCode, sources: { errorUrls: string[] }[]): VastOutcome {
  return { status: 'none', code, errorUrls: sources.flatMap(({ errorUrls }) => errorUrls) }
}

function codeOf(error: unknown): VastErrorCode {
  // Any other error is a failed request or a timeout (VAST 4.3: "unavailable or reached a
  // timeout").
  return error instanceof VastError ? error.code : 301
}
