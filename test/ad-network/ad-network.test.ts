// The stand-in keeps to the protocol of its kind; tests of the product would otherwise test a fancy.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAdNetwork, type AdNetwork } from './ad-network.ts'
import { vastCases } from './vast-cases.ts'

let network: AdNetwork
beforeAll(async () => {
  network = await startAdNetwork()
})
afterAll(() => network.close())

describe('startAdNetwork()', () => {
  it('answers one creative for each zone that was asked for', async () => {
    const answer = await fetch(`${network.url}/v1/api.php`, {
      method: 'POST',
      body: JSON.stringify({ zones: ['frame', 'no-fill', 'image'] }),
    })
    expect(await answer.json()).toMatchObject([{ element: 'iframe' }, null, { element: 'img' }])
  })

  it('records what it was asked, until it is reset', async () => {
    network.reset()
    await fetch(`${network.url}/px?event=start`, { headers: { referer: 'http://viewer.test/' } })
    expect(network.beacons()).toEqual(['event=start'])
    expect(network.requests('/px')[0]?.headers.referer).toBe('http://viewer.test/')
    network.reset()
    expect(network.requests()).toEqual([])
  })

  it('has another script under the same path for each way in which scripts fail', async () => {
    const noop = await fetch(`${network.variantUrls.get('noop')}/ad-provider.js`)
    expect(await noop.text()).not.toContain('AdProvider')
    const gone = await fetch(`${network.variantUrls.get('gone')}/ad-provider.js`)
    expect(gone.status).toBe(404)
  })

  it('makes films that begin like an MP4 and answers ranges of them', async () => {
    const answer = await fetch(`${network.url}/media/short.mp4`, {
      headers: { range: 'bytes=4-7' },
    })
    expect(answer.status).toBe(206)
    expect(await answer.text()).toBe('ftyp')
  })

  it('has every case of VAST once', () => {
    const zones = vastCases.map(({ zone }) => zone)
    expect(new Set(zones).size).toBe(zones.length)
  })
})
