// The placeholders in ad addresses, such as `[CACHEBUSTING]` (VAST 4.3, 6).

export type MacroValues = Readonly<Record<string, string>>

/**
 * Macros that we have no value for: told so by -1, so that nobody takes the placeholder for one.
 */
const UNKNOWN_MACROS = new Set(
  `ADCATEGORIES ADCOUNT ADSERVINGID ADTYPE APIFRAMEWORKS APPBUNDLE APPNAME BLOCKEDADCATEGORIES BREAKMAXADLENGTH
  BREAKMAXADS BREAKMAXDURATION BREAKMINADLENGTH BREAKMINDURATION BREAKPOSITION CLICKPOS CLICKTYPE CLIENTUA CONTENTCAT
  CONTENTID CONTENTURI DEVICEIP DEVICEUA EXTENSIONS GDPRCONSENT IFA IFATYPE INVENTORYSTATE LATLONG LIMITADTRACKING
  MEDIAMIME MEDIAPLAYHEAD OMIDPARTNER PLACEMENTTYPE PLAYERCAPABILITIES PODSEQUENCE REASON REGULATIONS SERVERSIDE
  SERVERUA STOREID STOREURL TRANSACTIONID UNIVERSALADID VASTVERSIONS VERIFICATIONVENDORS CONTENTPLAYHEAD ERRORCODE
  ADPLAYHEAD ASSETURI PLAYERSIZE PLAYERSTATE`.split(/\s+/),
)

/** The address with its macros filled; what is in brackets and no macro stays. */
export function fillMacros(url: string, values: MacroValues): string {
  return url.replace(/(?:\[|%5B)([A-Z0-9_]+)(?:\]|%5D)/gi, (found, name: string) => {
    if (Object.hasOwn(values, name)) return encodeURIComponent(values[name] ?? '')
    return UNKNOWN_MACROS.has(name) ? '-1' : found
  })
}

/** What can be said with any request: time, page, and a number that no cache has seen. */
export function requestMacros(): MacroValues {
  return {
    CACHEBUSTING: String(Math.floor(10_000_000 + Math.random() * 90_000_000)),
    TIMESTAMP: new Date().toISOString(),
    PAGEURL: location.href,
    DOMAIN: location.hostname,
  }
}

/** What can be said of an ad that is on the page. */
export function playMacros(video: HTMLVideoElement): MacroValues {
  return {
    ...requestMacros(),
    ADPLAYHEAD: formatPlayhead(video.currentTime),
    // Not begun: the ad comes first.
    MEDIAPLAYHEAD: formatPlayhead(0),
    CONTENTPLAYHEAD: formatPlayhead(0),
    ASSETURI: video.currentSrc || video.src,
    PLAYERSIZE: `${video.clientWidth},${video.clientHeight}`,
    PLAYERSTATE: 'muted,autoplayed',
  }
}

/** Seconds as `HH:MM:SS.mmm`. */
export function formatPlayhead(seconds: number): string {
  // 24 hours at most, which is more than any ad.
  const ms = Math.min(Math.max(Math.round(seconds * 1000), 0), 86_399_999)
  return new Date(ms).toISOString().slice(11, 23)
}
