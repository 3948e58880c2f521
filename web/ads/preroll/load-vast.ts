// Fetches VAST documents, follows wrappers, and selects a media file that this browser can play.
import type { Consent } from './consent.ts'
import { fillMacros, requestMacros } from './macros.ts'
import { VastError } from './vast-error.ts'
import type { SentErrorCode } from './vast-error.ts'
import { parseVast } from './vast.ts'
import type { InlineAd, LinearEvents, MediaFile, VastDocument, WrapperAd } from './vast.ts'
import { withTimeout } from '../../../shared/with-timeout.ts'

export type VastOutcome =
  | { status: 'found'; ad: PrerollAd }
  /** `errorUrls` receive the code. */
  | { status: 'none'; code: SentErrorCode; errorUrls: string[] }

/** One ad, with the tracking URLs of all documents of its chain. */
export interface PrerollAd extends LinearEvents {
  mediaUrl: string
  durationSeconds: number | undefined
  isSkippable: boolean
  isInteractive: boolean
  impressionUrls: string[]
  errorUrls: string[]
  unverifiedUrls: string[]
}

interface LoadOptions {
  consent: Consent
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
  { consent, signal, timeoutMs, canPlay }: LoadOptions,
): Promise<VastOutcome> {
  const wrappers: WrapperAd[] = []
  try {
    return await withTimeout(
      (limited) => followChain(url, { wrappers, consent, canPlay, signal: limited }),
      {
        timeoutMs,
        signal,
        reason: () => new VastError(301, 'no document in time'),
      },
    )
  } catch (error) {
    signal.throwIfAborted()
    return none(error instanceof VastError ? error.code : 900, wrappers)
  }
}

interface Chain {
  wrappers: WrapperAd[]
  consent: Consent
  canPlay: (type: string) => boolean
  signal: AbortSignal
}

async function followChain(url: string, chain: Chain): Promise<VastOutcome> {
  const { wrappers, canPlay } = chain
  const seen = new Set<string>()
  let next = url
  for (;;) {
    if (seen.has(next)) throw new VastError(302, 'the wrappers form a cycle')
    seen.add(next)
    const document = await fetchVast(next, chain)
    const found = chooseMedia(document, canPlay)
    if (found) return { status: 'found', ad: assembleAd(found, wrappers) }
    const wrapper = document.ads.find(({ kind }) => kind === 'wrapper')
    if (wrapper?.kind !== 'wrapper') return explainNone(document, wrappers)
    if (wrappers.at(-1)?.followsWrappers === false) return none(303, [...wrappers, document])
    wrappers.push(wrapper)
    if (wrapper.requiresCompanions) throw new VastError(602, 'there is no room for companions')
    if (wrappers.length > MAX_WRAPPERS) throw new VastError(302, 'too many wrappers')
    if (!wrapper.hasNext) throw new VastError(101, 'a wrapper without VASTAdTagURI')
    if (!wrapper.nextUrl) throw new VastError(300, 'a wrapper of an address that is not http')
    next = wrapper.nextUrl
  }
}

async function fetchVast(url: string, { consent, signal }: Chain): Promise<VastDocument> {
  await consent.whenKnown(url)
  const macros = { ...requestMacros(), ...consent.macrosFor(url) }
  const { text, finalUrl } = await request(fillMacros(url, macros), signal)
  // Many ad servers respond so without an ad (204, or 200 with an empty body).
  if (text.trim() === '') return { errorUrls: [], ads: [], hasUnknownAd: false }
  return parseVast(text, finalUrl)
}

/** Throws 301 if the document is unavailable. */
async function request(url: string, signal: AbortSignal) {
  try {
    // Without credentials, `access-control-allow-origin` may be `*` or this origin.
    const response = await fetch(url, { credentials: 'omit', cache: 'no-store', signal })
    if (!response.ok) throw new VastError(301, `status ${response.status}`)
    return { text: await readText(response), finalUrl: response.url || url }
  } catch (error) {
    if (error instanceof VastError) throw error
    throw new VastError(301, 'the request failed', { cause: error })
  }
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

/** The first media file that is neither VPAID nor audio, and that the browser can play. */
function chooseMedia(
  { ads }: VastDocument,
  canPlay: (type: string) => boolean,
): ChosenMedia | undefined {
  return ads
    .filter((ad) => ad.kind === 'inline')
    .filter(({ isAudio, requiresCompanions }) => !isAudio && !requiresCompanions)
    .flatMap((inline) =>
      inline.linears.flatMap((linear) =>
        linear.mediaFiles.map((file) => ({ inline, linear, file })),
      ),
    )
    .find(({ file }) => file.apiFramework?.toUpperCase() !== 'VPAID' && canPlayFile(file, canPlay))
}

function canPlayFile({ type }: MediaFile, canPlay: (type: string) => boolean): boolean {
  return type === undefined || (!/^audio\//i.test(type) && canPlay(type))
}

/** Merges the chain's tracking; the innermost click-through applies (VAST 4.3, 3.4.4). */
function assembleAd({ inline, linear, file }: ChosenMedia, wrappers: WrapperAd[]): PrerollAd {
  const innermostFirst = [linear, ...wrappers.toReversed()]
  const chain = [...wrappers, inline]
  return {
    mediaUrl: file.url,
    durationSeconds: linear.durationSeconds,
    isSkippable: linear.isSkippable,
    isInteractive: linear.isInteractive,
    impressionUrls: chain.flatMap(({ impressionUrls }) => impressionUrls),
    errorUrls: chain.flatMap(({ errorUrls }) => errorUrls),
    unverifiedUrls: chain.flatMap(({ unverifiedUrls }) => unverifiedUrls),
    tracking: [...wrappers, linear].flatMap(({ tracking }) => tracking),
    clickTrackingUrls: [...wrappers, linear].flatMap(({ clickTrackingUrls }) => clickTrackingUrls),
    clickThroughUrl: innermostFirst.find(({ clickThroughUrl }) => clickThroughUrl)?.clickThroughUrl,
  }
}

function explainNone(document: VastDocument, wrappers: WrapperAd[]): VastOutcome {
  const [ad] = document.ads
  if (ad?.kind === 'inline') return none(refusalOf(ad), [...wrappers, ad])
  return none(document.hasUnknownAd ? 101 : 303, [...wrappers, document])
}

/** Why an ad of which no media file was chosen is not shown. */
function refusalOf({
  requiresCompanions,
  isAudio,
  linears,
  otherCreatives,
}: InlineAd): SentErrorCode {
  if (requiresCompanions) return 602
  if (isAudio) return 200
  if (linears.length > 0) return 403
  if (otherCreatives === 'nonlinear') return 201
  return otherCreatives === 'companions' ? 200 : 101
}

function none(code: SentErrorCode, sources: { errorUrls: string[] }[]): VastOutcome {
  return { status: 'none', code, errorUrls: sources.flatMap(({ errorUrls }) => errorUrls) }
}
