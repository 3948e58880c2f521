// The consent of visitors in requests of VAST and in beacons, from a consent management platform
// (CMP) on the page.
import type { Page } from '@playwright/test'
import { expect, expectHeld, overlay, overrideAds, playerPath, slowFilms, test } from './ad-site.ts'

/** Longest wait for a CMP. */
const consentLimitMs = 1000
/** As an operator would add it to `ads.vastUrl`. */
const vastQuery =
  '&gdpr=${GDPR}&gdpr_consent=${GDPR_CONSENT_1111}&gpp=${GPP_STRING_1111}&gpp_sid=${GPP_SID}' +
  '&standard=[GDPRCONSENT]&regulations=[REGULATIONS]'
const tcString = 'CQSbk4AQSbk4ANwAAAENAwCgAAAAAAAAAAYgACPAAAAA.IDKQA4AAgAKAGQAygAAA'
const gppString = 'DBACNYA~CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA~1YNN'

const consented = { gdpr: '1', gdpr_consent: tcString, gpp: '', gpp_sid: '' }
const unknown = { gdpr: '', gdpr_consent: '', gpp: '', gpp_sid: '' }

test.describe.configure({ mode: 'parallel' })

test('sends the consent string to every server of the chain, and in beacons', async ({
  page,
  network,
}) => {
  await page.addInitScript(installCmp, { tcString, eventStatus: 'tcloaded' })
  await openPlayer(page)
  await expect.poll(() => network.beacons().join()).toContain('event=start')
  const [first, next] = network.requests('/v1/vast.php')
  expect(queryOf(first)).toEqual({
    idzone: 'consent',
    ...consented,
    standard: tcString,
    regulations: 'gdpr',
  })
  expect(queryOf(next)).toEqual({ idzone: 'consent-of-ad', ...consented })
  const started = network.requests('/px').find(({ query }) => query.get('event') === 'start')
  expect(queryOf(started)).toEqual({ event: 'start', ...consented })
})

test('sends the string of GPP', async ({ page, network }) => {
  await page.addInitScript((text) => {
    const pingData = { signalStatus: 'ready', gppString: text, applicableSections: [2, 6] }
    const call = (_command: string, callback: (event: object, success: boolean) => void) =>
      callback({ eventName: 'signalStatus', data: 'ready', pingData }, true)
    Object.assign(globalThis, { __gpp: call })
  }, gppString)
  await openPlayer(page)
  await expect(overlay(page)).toBeVisible()
  expect(queryOf(network.requests('/v1/vast.php')[0])).toMatchObject({
    gdpr: '',
    gpp: gppString,
    gpp_sid: '2,6',
  })
})

test('requests at once without a CMP', async ({ page, network }) => {
  await openPlayer(page)
  await expect(overlay(page)).toBeVisible()
  const [first, next] = network.requests('/v1/vast.php')
  expect(queryOf(first)).toMatchObject({ ...unknown, standard: '-1', regulations: '-1' })
  expect(queryOf(next)).toMatchObject(unknown)
})

test('waits a second for an open dialogue, and then sends no string', async ({ page, network }) => {
  await page.addInitScript(installCmp, { tcString, eventStatus: 'cmpuishown' })
  await openPlayer(page)
  await expect.poll(() => wasCalled(page)).toBe(true)
  await page.clock.runFor(consentLimitMs - 1)
  await expectHeld(page)
  expect(network.requests('/v1/vast.php')).toEqual([])
  await page.clock.runFor(1)
  await expect(overlay(page)).toBeVisible()
  expect(queryOf(network.requests('/v1/vast.php')[0])).toMatchObject({ ...unknown, gdpr: '1' })
})

test('continues when the visitor decides', async ({ page, network }) => {
  await page.addInitScript(installCmp, { tcString, eventStatus: 'cmpuishown' })
  await openPlayer(page)
  await expect.poll(() => wasCalled(page)).toBe(true)
  await page.evaluate('globalThis.decide("useractioncomplete")')
  await expect(overlay(page)).toBeVisible()
  expect(queryOf(network.requests('/v1/vast.php')[0])).toMatchObject(consented)
})

test('requests at once where the CMP is broken', async ({ page, network }) => {
  await page.addInitScript(() => {
    const call = () => {
      throw new Error('broken')
    }
    Object.assign(globalThis, { __tcfapi: call, __gpp: call })
  })
  await openPlayer(page)
  await expect(overlay(page)).toBeVisible()
  expect(queryOf(network.requests('/v1/vast.php')[0])).toMatchObject(unknown)
})

test('calls a CMP that a reverse proxy inserts: the policy of the page allows it', async ({
  page,
}) => {
  const script = 'https://cmp.example/cmp.js'
  await page.route(script, (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: `(${String(installCmp)})(${JSON.stringify({ tcString, eventStatus: 'tcloaded' })})`,
    }),
  )
  await page.route(`**${playerPath}`, async (route) => {
    const response = await route.fetch()
    const html = await response.text()
    const body = html.replace('<head>', `<head><script src="${script}"></script>`)
    await route.fulfill({ response, body })
  })
  // Chromium blocks it: a page from a test is not of the loopback interface.
  const requested = page.waitForRequest('**/v1/vast.php*')
  await openPlayer(page)
  const query = new URL((await requested).url()).searchParams
  expect(queryOf({ query })).toMatchObject(consented)
})

async function openPlayer(page: Page): Promise<void> {
  await overrideAds(page, { zones: { video: 'consent' }, vastQuery })
  await slowFilms(page)
  await page.goto(playerPath)
}

interface CmpOptions {
  tcString: string
  eventStatus: string
}

/** A CMP that calls its listeners at once, and again when the test calls `decide`. */
function installCmp({ tcString, eventStatus }: CmpOptions): void {
  type Listener = (data: object, success: boolean) => void
  const listeners: Listener[] = []
  const data = (status: string, listenerId: number) => ({
    gdprApplies: true,
    eventStatus: status,
    tcString,
    listenerId,
  })
  const call = (command: string, version: number, listener: Listener) => {
    if (command !== 'addEventListener' || version !== 2) return
    listeners.push(listener)
    Object.assign(globalThis, { wasCalled: true })
    listener(data(eventStatus, listeners.length), true)
  }
  const decide = (status: string) => {
    for (const [at, listener] of listeners.entries()) listener(data(status, at + 1), true)
  }
  Object.assign(globalThis, { __tcfapi: call, decide, wasCalled: false })
}

function wasCalled(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('globalThis.wasCalled')
}

function queryOf(request: { query: URLSearchParams } | undefined): Record<string, string> {
  return Object.fromEntries(request?.query ?? [])
}
