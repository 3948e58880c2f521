// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openConsent } from './consent.ts'
import { fillMacros } from './macros.ts'

type Call = (...args: unknown[]) => void

const url = 'https://ads.example/vast?gdpr=${GDPR}&consent=${GDPR_CONSENT_7}&gpp=${GPP_STRING_7}'
const decided = { gdprApplies: true, eventStatus: 'tcloaded', tcString: 'CQ.YA', listenerId: 3 }
const ready = { signalStatus: 'ready', gppString: 'DBAA~BVQ', applicableSections: [7, 8] }

let left: AbortController

beforeEach(() => {
  vi.useFakeTimers()
  left = new AbortController()
})

afterEach(() => {
  left.abort()
  Reflect.deleteProperty(window, '__tcfapi')
  Reflect.deleteProperty(window, '__gpp')
  vi.useRealTimers()
})

/** Puts the function of a CMP on the page. */
function install(name: '__tcfapi' | '__gpp', call: Call) {
  const cmp = vi.fn<Call>(call)
  Object.assign(window, { [name]: cmp })
  return cmp
}

/** A CMP that calls its listener at once with these responses. */
function installTcf(...responses: [data: unknown, success?: boolean][]) {
  return install('__tcfapi', (command, version, callback) => {
    if (command !== 'addEventListener' || version !== 2) return
    for (const [data, success = true] of responses) listenerOf(callback)(data, success)
  })
}

function listenerOf(callback: unknown): Call {
  if (typeof callback !== 'function') throw new Error('no callback')
  return (...args) => void Reflect.apply(callback, undefined, args)
}

/** Waits until the consent is known, and fills the macros of `text`. */
async function fill(text = url): Promise<string> {
  const consent = openConsent(left.signal)
  const known = consent.whenKnown(text)
  await vi.advanceTimersByTimeAsync(1000)
  await known
  return fillMacros(text, consent.macrosFor(text)).replace('https://ads.example/vast', '')
}

/** Whether it waits for a CMP. */
async function waits(): Promise<boolean> {
  let isKnown = false
  void openConsent(left.signal)
    .whenKnown(url)
    .then(() => (isKnown = true))
  await vi.advanceTimersByTimeAsync(999)
  return !isKnown
}

test('without a CMP, has no values and does not wait', async () => {
  const consent = openConsent(left.signal)
  await consent.whenKnown(url)
  expect(consent.macrosFor(url)).toEqual({})
  expect(vi.getTimerCount()).toBe(0)
})

test('fills the consent string of a CMP that has one', async () => {
  installTcf([decided])
  expect(await waits()).toBe(false)
  expect(await fill()).toBe('?gdpr=1&consent=CQ.YA&gpp=')
  expect(await fill('?[GDPRCONSENT]&[REGULATIONS]')).toBe('?CQ.YA&gdpr')
})

test('has no consent string where the GDPR does not apply', async () => {
  installTcf([{ gdprApplies: false, tcString: 'CQ.YA' }])
  expect(await waits()).toBe(false)
  expect(await fill()).toBe('?gdpr=0&consent=&gpp=')
  expect(await fill('?[GDPRCONSENT]&[REGULATIONS]')).toBe('?-1&-1')
})

test('waits a second for the visitor to close a dialogue', async () => {
  installTcf([{ ...decided, eventStatus: 'cmpuishown' }])
  expect(await waits()).toBe(true)
  expect(await fill()).toBe('?gdpr=1&consent=&gpp=')
})

test('continues as soon as the visitor has decided, and has later changes', async () => {
  let listener: Call = () => undefined
  install('__tcfapi', (_command, _version, callback) => (listener = listenerOf(callback)))
  const consent = openConsent(left.signal)
  const known = consent.whenKnown(url)
  await vi.advanceTimersByTimeAsync(500)
  listener({ ...decided, eventStatus: 'useractioncomplete' }, true)
  await known
  expect(vi.getTimerCount()).toBe(0)
  expect(consent.macrosFor(url)).toMatchObject({ GDPR_CONSENT: 'CQ.YA' })
  listener({ ...decided, tcString: 'CQ.NO' }, true)
  expect(consent.macrosFor(url)).toMatchObject({ GDPR_CONSENT: 'CQ.NO' })
})

test('waits once for all URLs of a pre-roll', async () => {
  install('__tcfapi', () => undefined)
  const consent = openConsent(left.signal)
  const first = consent.whenKnown(url)
  await vi.advanceTimersByTimeAsync(1000)
  await first
  await consent.whenKnown('https://next.example/?[GDPRCONSENT]')
  expect(vi.getTimerCount()).toBe(0)
})

test('calls no CMP for a URL without a macro of consent', async () => {
  const cmp = installTcf([decided])
  const consent = openConsent(left.signal)
  await consent.whenKnown('https://ads.example/?[CACHEBUSTING]')
  expect(consent.macrosFor('https://ads.example/?[CACHEBUSTING]')).toEqual({})
  expect(cmp).not.toHaveBeenCalled()
})

test('calls a CMP that the page loads later', async () => {
  const consent = openConsent(left.signal)
  await consent.whenKnown(url)
  installTcf([decided])
  expect(consent.macrosFor(url)).toMatchObject({ GDPR: '1' })
})

test('fills the string and the sections of GPP', async () => {
  install('__gpp', (command, callback) => {
    if (command !== 'addEventListener') return
    const call = listenerOf(callback)
    call(
      { eventName: 'listenerRegistered', pingData: { ...ready, signalStatus: 'not ready' } },
      true,
    )
    call({ eventName: 'signalStatus', pingData: ready }, true)
  })
  expect(await waits()).toBe(false)
  expect(await fill('?${GPP_STRING_9}&${GPP_SID}&[GPPSTRING]&[GPPSECTIONID]')).toBe(
    '?DBAA~BVQ&7,8&DBAA~BVQ&7,8',
  )
})

test('has no section of GPP where none applies', async () => {
  install('__gpp', (_command, callback) =>
    listenerOf(callback)({ pingData: { ...ready, applicableSections: [-1, 0, '7', 1.5] } }, true),
  )
  expect(await fill('?${GPP_SID}&[GPPSECTIONID]')).toBe('?&-1')
})

test.each<[string, Call]>([
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  [
    'refuses the listener',
    (_command, _version, callback) => listenerOf(callback)(undefined, false),
  ],
  ['responds with null', (_command, _version, callback) => listenerOf(callback)(null, true)],
  [
    'responds with properties that throw',
    (_command, _version, callback) =>
      listenerOf(callback)(
        {
          get gdprApplies() {
            throw new Error('broken')
          },
        },
        true,
      ),
  ],
])('does not wait for a CMP that %s', async (_what, call) => {
  install('__tcfapi', call)
  expect(await waits()).toBe(false)
  expect(await fill()).toBe('?gdpr=&consent=&gpp=')
})

test.each([
  'A'.repeat(100_000),
  'CQ&gdpr=0',
  'CQ\u{D800}',
  '',
  undefined,
  7,
  { toString: () => 'CQ' },
])('ignores a consent string that is not one: case %#', async (tcString) => {
  installTcf([{ ...decided, tcString }])
  expect(await waits()).toBe(false)
  expect(await fill()).toBe('?gdpr=1&consent=&gpp=')
})

test('ignores a property of the page that is not a CMP', async () => {
  Object.assign(window, { __tcfapi: 'text' })
  expect(await waits()).toBe(false)
})

test('stops to listen when the visitor leaves', async () => {
  const cmp = installTcf([decided])
  await fill()
  left.abort()
  expect(cmp).toHaveBeenLastCalledWith('removeEventListener', 2, expect.any(Function), 3)
})

test('stops to listen at the CMP that has replaced its stub', async () => {
  const stub = installTcf([decided])
  await fill()
  const cmp = install('__tcfapi', () => undefined)
  left.abort()
  expect(stub).toHaveBeenCalledOnce()
  expect(cmp).toHaveBeenCalledExactlyOnceWith('removeEventListener', 2, expect.any(Function), 3)
})

test('stops to listen to a CMP that responds after the visitor has left', async () => {
  let listener: Call = () => undefined
  const cmp = install('__tcfapi', (command, _version, callback) => {
    if (command === 'addEventListener') listener = listenerOf(callback)
  })
  void openConsent(left.signal).whenKnown(url)
  left.abort()
  expect(cmp).toHaveBeenCalledOnce()
  listener(decided, true)
  expect(cmp).toHaveBeenLastCalledWith('removeEventListener', 2, expect.any(Function), 3)
})
