// Macros in the URLs of VAST documents, such as `[CACHEBUSTING]` (VAST 4.3, 6).

/** A list is separated by commas, which are not encoded (VAST 4.3, 6.1). */
export type MacroValues = Readonly<Record<string, string | readonly string[]>>

/** Macros without a value here are replaced by -1 (VAST 4.3, 6.1: "unknown"). */
const UNKNOWN_MACROS = new Set(
  `ADCATEGORIES ADCOUNT ADSERVINGID ADTYPE APIFRAMEWORKS APPBUNDLE APPNAME BLOCKEDADCATEGORIES
  BREAKMAXADLENGTH BREAKMAXADS BREAKMAXDURATION BREAKMINADLENGTH BREAKMINDURATION BREAKPOSITION
  CLICKPOS CLICKTYPE CLIENTUA CONTENTCAT CONTENTID CONTENTURI DEVICEIP DEVICEUA DSAPARAMS
  DSAPUBRENDER DSAREQUIRED EXTENSIONS GDPRCONSENT GPPSECTIONID GPPSTRING IFA
  IFATYPE INVENTORYSTATE LATLONG LIMITADTRACKING MEDIAMIME MEDIAPLAYHEAD OMIDPARTNER PLACEMENTTYPE
  PLAYBACKMETHODS PLAYERCAPABILITIES PODSEQUENCE REASON REGULATIONS SERVERSIDE SERVERUA STOREID
  STOREURL TRANSACTIONID UNIVERSALADID VASTVERSIONS VERIFICATIONVENDORS CONTENTPLAYHEAD ERRORCODE
  ADPLAYHEAD ASSETURI PLAYERSIZE PLAYERSTATE`.split(/\s+/),
)

/** The URL with its macros replaced; other text in brackets is left unchanged. */
export function fillMacros(url: string, values: MacroValues): string {
  return url.replace(/(?:\[|%5B)([A-Z0-9_]+)(?:\]|%5D)/gi, (found, name: string) => {
    if (Object.hasOwn(values, name)) return encodeValue(values[name])
    return UNKNOWN_MACROS.has(name) ? '-1' : found
  })
}

function encodeValue(value: MacroValues[string] = ''): string {
  return [value].flat().map(encodeURIComponent).join(',')
}

/** Values for any request: time, page, and a random number against caches. */
export function requestMacros(): MacroValues {
  return {
    CACHEBUSTING: String(Math.floor(10_000_000 + Math.random() * 90_000_000)),
    TIMESTAMP: new Date().toISOString(),
    PAGEURL: location.href,
    DOMAIN: location.hostname,
  }
}

/** Values while an ad plays. */
export function playMacros(video: HTMLVideoElement): MacroValues {
  return {
    ...requestMacros(),
    ADPLAYHEAD: formatPlayhead(video.currentTime),
    // 0: the main video has not started.
    MEDIAPLAYHEAD: formatPlayhead(0),
    CONTENTPLAYHEAD: formatPlayhead(0),
    ASSETURI: video.currentSrc || video.src,
    PLAYERSIZE: [String(video.clientWidth), String(video.clientHeight)],
    PLAYERSTATE: 'muted',
    INVENTORYSTATE: 'mautoplayed',
  }
}

/** Seconds as `HH:MM:SS.mmm`. */
export function formatPlayhead(seconds: number): string {
  // Limited to 24 hours.
  const ms = Math.min(Math.max(Math.round(seconds * 1000), 0), 86_399_999)
  return new Date(ms).toISOString().slice(11, 23)
}
