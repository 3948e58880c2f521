// What the visitor has consented to, as consent management platforms (CMPs) on the page report it:
// TCF (IAB Europe, CMP API v2) and GPP (IAB, CMP API). A CMP is third-party code: it may throw,
// never respond, or respond with anything.
import { hasConsentMacro } from './macros.ts'
import type { MacroValues } from './macros.ts'

export interface Consent {
  /** Resolves when the macros in this URL can be filled; without a CMP at once. Never rejects. */
  whenKnown: (url: string) => Promise<void>
  /** Values of the macros in this URL, as far as they are known now. */
  macrosFor: (url: string) => MacroValues
}

/** Longest wait, for all URLs of a pre-roll together. */
const CONSENT_TIMEOUT_MS = 1000
/** Far above any real string, and about what servers accept in a URL. */
const MAX_STRING_LENGTH = 8000
/** TC strings: base64url with dots. GPP strings: also tildes. */
const CONSENT_STRING = /^[A-Za-z0-9_.~-]+$/
/** A GPP string has one section in force, rarely two. */
const MAX_SECTIONS = 8

/** Calls no CMP before a URL has a macro of consent. Ends its listeners when the signal aborts. */
export function openConsent(signal: AbortSignal): Consent {
  const tcf = createPlatform({ name: '__tcfapi', version: [2], read: readTcf }, signal)
  const gpp = createPlatform({ name: '__gpp', version: [], read: readGpp }, signal)
  let waiting: Promise<void> | undefined

  return {
    async whenKnown(url) {
      if (!hasConsentMacro(url)) return
      waiting ??= settleWithin(CONSENT_TIMEOUT_MS, [tcf.query(), gpp.query()])
      await waiting
    },
    macrosFor(url) {
      if (!hasConsentMacro(url)) return {}
      void tcf.query()
      void gpp.query()
      return { ...tcf.values(), ...gpp.values() }
    },
  }
}

function settleWithin(timeoutMs: number, responses: (Promise<void> | undefined)[]): Promise<void> {
  const pending = responses.filter((response) => response !== undefined)
  if (pending.length === 0) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs)
    void Promise.all(pending).then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

interface Platform {
  /** Listens to the CMP. Resolves on its final response; undefined without a CMP. */
  query: () => Promise<void> | undefined
  values: () => MacroValues
}

interface Protocol {
  /** Name of the CMP's function. */
  name: string
  /** Argument between command and callback. */
  version: number[]
  /** Reads a response. */
  read: (response: object) => ConsentState
}

interface ConsentState {
  values: MacroValues
  /** The visitor has decided, or need not. */
  isFinal: boolean
}

function createPlatform({ name, version, read }: Protocol, signal: AbortSignal): Platform {
  let values: MacroValues = {}
  let final: Promise<void> | undefined

  /** The function now: a stub that queues calls is replaced once the CMP has loaded. */
  function find(): Function | undefined {
    const cmp: unknown = get(window, name)
    return typeof cmp === 'function' ? cmp : undefined
  }

  function listen(call: (...args: unknown[]) => void, onFinal: () => void): void {
    let listenerId: unknown
    const stop = () => {
      if (listenerId !== undefined) call('removeEventListener', ...version, ignore, listenerId)
    }
    const receive = (response: unknown, success: unknown) => {
      if (success === false || !isObject(response)) return onFinal()
      listenerId ??= get(response, 'listenerId')
      if (signal.aborted) return stop()
      const state = read(response)
      values = state.isFinal ? state.values : { ...values, ...state.values }
      if (state.isFinal) onFinal()
    }
    call('addEventListener', ...version, (response: unknown, success: unknown) =>
      attempt(() => receive(response, success), onFinal),
    )
    signal.addEventListener('abort', stop)
  }

  return {
    query() {
      if (signal.aborted) return final
      attempt(() => {
        if (!find()) return
        final ??= new Promise((resolve) => {
          listen(
            (...args) => attempt(() => void Reflect.apply(find() ?? ignore, window, args), resolve),
            resolve,
          )
        })
      }, ignore)
      return final
    },
    values: () => values,
  }
}

/** TCData (CMP API v2). The string of an open dialogue is not a decision. */
function readTcf(data: object): ConsentState {
  const applies = get(data, 'gdprApplies')
  if (applies === false) return { values: { GDPR: '0' }, isFinal: true }
  if (applies !== true) return { values: {}, isFinal: false }
  const status = get(data, 'eventStatus')
  const values = { GDPR: '1', REGULATIONS: 'gdpr' }
  if (status !== 'tcloaded' && status !== 'useractioncomplete') return { values, isFinal: false }
  const consent = consentString(get(data, 'tcString'))
  return {
    values: consent ? { ...values, GDPRCONSENT: consent, GDPR_CONSENT: consent } : values,
    isFinal: true,
  }
}

/** PingReturn (GPP, CMP API). */
function readGpp(event: object): ConsentState {
  const ping = get(event, 'pingData')
  if (!isObject(ping) || get(ping, 'signalStatus') !== 'ready')
    return { values: {}, isFinal: false }
  const consent = consentString(get(ping, 'gppString'))
  const sections = get(ping, 'applicableSections')
  const ids = (Array.isArray(sections) ? sections.slice(0, MAX_SECTIONS) : [])
    // -1: none applies; 0: unknown.
    .filter((id) => Number.isSafeInteger(id) && id > 0)
    .map(String)
  return {
    values: {
      ...(consent && { GPPSTRING: consent, GPP_STRING: consent }),
      ...(ids.length > 0 && { GPPSECTIONID: ids, GPP_SID: ids }),
    },
    isFinal: true,
  }
}

function consentString(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_STRING_LENGTH) return undefined
  return CONSENT_STRING.test(text) ? text : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function get(from: object, property: string): unknown {
  return Reflect.get(from, property)
}

function attempt(work: () => void, onThrow: () => void): void {
  try {
    work()
  } catch {
    onThrow()
  }
}

function ignore(): void {}
