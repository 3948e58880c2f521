// The stand-in network follows the protocol of real ones: the tests of the product depend on it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAdNetwork, type AdNetwork } from './ad-network.ts'
import { vastCases } from './vast-cases.ts'

let network: AdNetwork
beforeAll(async () => {
  network = await startAdNetwork()
})
afterAll(() => network.close())

describe('startAdNetwork()', () => {
  it('returns one creative for each requested zone', async () => {
    const response = await fetch(`${network.url}/v1/api.php`, {
      method: 'POST',
      body: JSON.stringify({ zones: ['frame', 'no-fill', 'image'] }),
    })
    expect(await response.json()).toMatchObject([{ element: 'iframe' }, null, { element: 'img' }])
  })

  it('records requests until it is reset', async () => {
    network.reset()
    await fetch(`${network.url}/px?event=start`, { headers: { referer: 'http://viewer.test/' } })
    expect(network.beacons()).toEqual(['event=start'])
    expect(network.requests('/px')[0]?.headers.referer).toBe('http://viewer.test/')
    network.reset()
    expect(network.requests()).toEqual([])
  })

  it('serves a different script under the same path for each failure', async () => {
    const noop = await fetch(`${network.variantUrls.get('noop')}/ad-provider.js`)
    expect(await noop.text()).not.toContain('AdProvider')
    const gone = await fetch(`${network.variantUrls.get('gone')}/ad-provider.js`)
    expect(gone.status).toBe(404)
  })

  it('makes MP4 videos and serves ranges of them', async () => {
    const response = await fetch(`${network.url}/media/short.mp4`, {
      headers: { range: 'bytes=4-7' },
    })
    expect(response.status).toBe(206)
    expect(await response.text()).toBe('ftyp')
  })

  it('holds late banners back until the test sends them', async () => {
    const body = JSON.stringify({ zones: ['late'] })
    const late = fetch(`${network.url}/v1/api.php`, { method: 'POST', body })
    await fetch(`${network.url}/px`)
    expect(await Promise.race([late.then(() => 'sent'), Promise.resolve('held')])).toBe('held')
    network.sendLate()
    expect(await (await late).json()).toMatchObject([{ element: 'iframe' }])
  })

  it('has every case of VAST once', () => {
    const zones = vastCases.map(({ zone }) => zone)
    expect(new Set(zones).size).toBe(zones.length)
  })
})
