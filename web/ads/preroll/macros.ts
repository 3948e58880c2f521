// Macros in the URLs of VAST documents: `[CACHEBUSTING]` (VAST 4.3, 6), and those of consent
// frameworks, `${GDPR}`.

/** A list is separated by commas, which are not encoded (VAST 4.3, 6.1). */
export type MacroValues = Readonly<Record<string, string | readonly string[]>>

/** Macros without a value here are replaced by -1 (VAST 4.3, 6.1: "unknown"). */
const UNKNOWN_MACROS = new Set(
  `ADCATEGORIES ADCOUNT ADSERVINGID ADTYPE APIFRAMEWORKS APPBUNDLE APPNAME BLOCKEDADCATEGORIES
  BREAKMAXADLENGTH BREAKMAXADS BREAKMAXDURATION BREAKMINADLENGTH BREAKMINDURATION BREAKPOSITION
  CLICKPOS CLICKTYPE CLIENTUA CONTENTCAT CONTENTID CONTENTURI DEVICEIP DEVICEUA DSAPARAMS
  DSAPUBRENDER DSAREQUIRED EXTENSIONS GDPR GDPRCONSENT GDPR_CONSENT GPPSECTIONID GPPSTRING IFA
  IFATYPE INVENTORYSTATE LATLONG LIMITADTRACKING MEDIAMIME MEDIAPLAYHEAD OMIDPARTNER PLACEMENTTYPE
  PLAYBACKMETHODS PLAYERCAPABILITIES PODSEQUENCE REASON REGULATIONS SERVERSIDE SERVERUA STOREID
  STOREURL TRANSACTIONID UNIVERSALADID VASTVERSIONS VERIFICATIONVENDORS CONTENTPLAYHEAD ERRORCODE
  ADPLAYHEAD ASSETURI PLAYERSIZE PLAYERSTATE`.split(/\s+/),
)

/**
 * Consent for one vendor: `${GDPR_CONSENT_123}` (TCF, CMP API v2: How do ad tags work), or
 * `${GPP_STRING_123}` (GPP, Consent String Specification). Empty if unknown.
 */
const CONSENT_MACRO = /^(?:GDPR|GDPR_CONSENT|GPP_STRING|GPP_SID)$/

/** The URL with its macros replaced; other text in brackets is left unchanged. */
export function fillMacros(url: string, values: MacroValues): string {
  return url
    .replace(/(?:\[|%5B)([A-Z0-9_]+)(?:\]|%5D)/gi, (found, name: string) => {
      if (Object.hasOwn(values, name)) return encodeValue(values[name])
      return UNKNOWN_MACROS.has(name) ? '-1' : found
    })
    .replace(/(?:\$|%24)(?:\{|%7B)([A-Z_]+?)(?:_\d{1,5})?(?:\}|%7D)/gi, (found, name: string) =>
      CONSENT_MACRO.test(name) ? encodeValue(values[name]) : found,
    )
}

/** Whether the URL has a macro whose value a consent dialogue decides. */
export function hasConsentMacro(url: string): boolean {
  return /(?:\[|%5B|\{|%7B)(?:GDPR|GPP|REGULATIONS)/i.test(url)
}

function encodeValue(value: MacroValues[string] = ''): string {
  return [value].flat().map(encodeURIComponent).join(',')
}

/**
 * Values for any request: time, site, and a random number against caches. The path of the page
 * reveals the watched session and is private, as in `Referrer-Policy`.
 */
export function requestMacros(): MacroValues {
  return {
    CACHEBUSTING: String(Math.floor(10_000_000 + Math.random() * 90_000_000)),
    TIMESTAMP: new Date().toISOString(),
    PAGEURL: `${location.origin}/`,
    DOMAIN: location.hostname,
    ...(wantsPrivacy() && { LIMITADTRACKING: '1' }),
  }
}

/** As the analytics define it, in a chunk that the pre-roll does not load. */
function wantsPrivacy(): boolean {
  const control: unknown = Reflect.get(navigator, 'globalPrivacyControl')
  return control === true || Reflect.get(navigator, 'doNotTrack') === '1'
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
