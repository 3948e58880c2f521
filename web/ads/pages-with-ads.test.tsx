// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AdsConfig } from '../../shared/contract.ts'
import type { FakeApi } from '../../test/page/fake-api.ts'
import { openPage, stubBrowser } from '../../test/page/open-page.tsx'

let api: FakeApi
let served: number

stubBrowser()

beforeEach(() => {
  served = 0
  window.AdProvider = { push: () => void (served += 1) }
})

afterEach(() => {
  delete window.AdProvider
  document.head.replaceChildren()
})

const network: AdsConfig = {
  provider: 'network',
  scriptPath: '/api/proxy-ad/a.example/ad-provider.js',
  insClass: 'eas6a97888e2',
  zones: { banner: '11', inline: '22' },
  fill: 'frame',
}

interface Site {
  /** Number of streamers s0, s1, …, each with one session. */
  streamers: number
  /** `undefined`: the request for the configuration fails. */
  ads?: AdsConfig
  /** `pending`: the test ends the load of the script. */
  script?: 'loaded' | 'pending'
}

async function open(path: string, site: Site): Promise<void> {
  const { streamers, ads, script = 'loaded' } = site
  const names = Array.from({ length: streamers }, (_, position) => `s${position}`)
  api = await openPage(path, {
    streamers: names.map((name) => ({ name, recording_count: 1 })),
    sessions: Object.fromEntries(names.map((name) => [name, [{ date: 'd', sessionId: '1' }]])),
    ...(ads && { config: { ads, analytics: { firstParty: false } } }),
  })
  if (ads?.provider !== 'network' || script === 'pending') return
  await waitFor(() => expect(document.scripts).toHaveLength(1))
  endScript('load')
}

/** jsdom loads no scripts. */
function endScript(event: 'load' | 'error'): void {
  act(() => void document.querySelector('script')?.dispatchEvent(new Event(event)))
}

/** The entries of a list in order: the names of the cards, `ad` for ad blocks. */
async function entriesOf(list: string): Promise<string[]> {
  const entries = within(await screen.findByRole('list', { name: list })).queryAllByRole('listitem')
  return entries.map((entry) =>
    entry.querySelector('[data-ad-block]') ? 'ad' : within(entry).getByRole('heading').textContent,
  )
}

function renderedSlots(): (string | undefined)[] {
  const blocks = document.querySelectorAll<HTMLElement>('[data-ad-block]')
  return Array.from(blocks, (block) => block.dataset['adBlock'])
}

function blockOf(slotName: string): HTMLElement {
  const block = document.querySelector<HTMLElement>(`[data-ad-block="${slotName}"]`)
  if (!block) throw new Error(`no ${slotName} block`)
  return block
}

async function placeholderOf(slotName: string): Promise<HTMLElement> {
  return waitFor(() => {
    const placeholder = blockOf(slotName).querySelector('ins')
    if (!placeholder) throw new Error(`the ${slotName} block is empty`)
    return placeholder
  })
}

test.each([
  [0, ''],
  [1, 's0'],
  [2, 's0 s1'],
  [3, 's0 s1 s2 ad'],
  [4, 's0 s1 s2 ad s3'],
  [5, 's0 s1 s2 ad s3 s4 ad'],
  [6, 's0 s1 s2 ad s3 s4 ad s5'],
  [7, 's0 s1 s2 ad s3 s4 ad s5 s6 ad'],
])(
  'a list of %i streamers has a block after the third and every second from there',
  async (n, list) => {
    await open('/', { streamers: n, ads: network })
    await waitFor(() => blockOf('header'))
    await waitFor(async () => expect((await entriesOf('Streamers')).join(' ')).toBe(list))
  },
)

test('a search result has its blocks by the same rule', async () => {
  await open('/', { streamers: 20, ads: network })
  await waitFor(() => blockOf('list'))
  fireEvent.change(screen.getByPlaceholderText('Search streamer...'), { target: { value: 's1' } })
  await screen.findByText('11 streamers found')
  const found = 's1 s10 s11 ad s12 s13 ad s14 s15 ad s16 s17 ad s18 s19 ad'
  await waitFor(async () => expect((await entriesOf('Streamers')).join(' ')).toBe(found))
})

test('a search does not re-create the blocks that remain', async () => {
  await open('/', { streamers: 20, ads: network })
  await waitFor(() => blockOf('list'))
  const placeholder = await placeholderOf('list')
  fireEvent.change(screen.getByPlaceholderText('Search streamer...'), { target: { value: 's1' } })
  await screen.findByText('11 streamers found')
  await waitFor(() => expect(document.querySelectorAll('[data-ad-block="list"]')).toHaveLength(5))
  expect(await placeholderOf('list')).toBe(placeholder)
})

test('Recommended has its blocks by the same rule', async () => {
  await open('/p/other/d/1', { streamers: 5, ads: network })
  fireEvent.loadedData(document.querySelector('video') ?? document.body)
  await waitFor(() => blockOf('recommended'))
  expect((await entriesOf('Recommended')).join(' ')).toBe('s0 s1 s2 ad s3 s4 ad')
})

test('the layout has header, sidebar and footer, the sessions list has no blocks', async () => {
  await open('/s/s0', { streamers: 1, ads: network })
  await waitFor(() => expect(renderedSlots()).toEqual(['sidebar', 'header', 'footer']))
  await screen.findByRole('list', { name: 'Sessions' })
  expect(renderedSlots()).toEqual(['sidebar', 'header', 'footer'])
})

test('blocks of the layout have the banner zone, those of lists the inline zone', async () => {
  await open('/', { streamers: 3, ads: network })
  await waitFor(() => blockOf('list'))
  for (const [slotName, zone] of Object.entries({
    header: 11,
    sidebar: 11,
    footer: 11,
    list: 22,
  })) {
    const { outerHTML } = await placeholderOf(slotName)
    expect(outerHTML).toBe(`<ins class="eas6a97888e2" data-zoneid="${zone}"></ins>`)
  }
})

test('every block is one element, labelled as advertising', async () => {
  await open('/', { streamers: 5, ads: network })
  await waitFor(() => blockOf('list'))
  expect(renderedSlots()).toEqual(['list', 'list', 'sidebar', 'header', 'footer'])
  expect(screen.getAllByText('Advertisement')).toHaveLength(5)
})

test.each<[string, AdsConfig | undefined]>([
  ['no provider', { provider: 'none' }],
  ['no configuration', undefined],
])('renders, loads and serves nothing with %s', async (_what, ads) => {
  await open('/', { streamers: 5, ...(ads && { ads }) })
  await waitFor(() => expect(api.requests).toContain('/api/config'))
  await waitFor(async () => expect(await entriesOf('Streamers')).toHaveLength(5))
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(renderedSlots()).toEqual([])
  expect(document.querySelectorAll('script, ins')).toHaveLength(0)
  expect(served).toBe(0)
})

test('a slot without a zone is not rendered', async () => {
  await open('/', { streamers: 3, ads: { ...network, zones: { inline: '22' } } })
  await waitFor(() => blockOf('list'))
  expect(renderedSlots()).toEqual(['list'])
})

test('route changes renew the layout, and load script and configuration only once', async () => {
  await open('/', { streamers: 3, ads: network })
  const first = await placeholderOf('header')
  await waitFor(() => expect(served).toBeGreaterThanOrEqual(3))
  fireEvent.click((await screen.findAllByRole('link', { name: 'View Sessions' }))[0] ?? document)
  await screen.findByRole('list', { name: 'Sessions' })
  await waitFor(() => expect(served).toBeGreaterThanOrEqual(6))
  expect(await placeholderOf('header')).not.toBe(first)
  fireEvent.click(screen.getByRole('link', { name: 'Home' }))
  await waitFor(() => blockOf('list'))
  await placeholderOf('list')
  expect(document.querySelectorAll('script')).toHaveLength(1)
  expect(document.querySelector('script')?.src).toBe(api.base + network.scriptPath)
  expect(api.requests.filter((path) => path === '/api/config')).toHaveLength(1)
})

test('hides the blocks if the script fails before the list, which then has none', async () => {
  const report = vi.spyOn(console, 'error').mockReturnValue()
  await open('/nowhere', { streamers: 5, ads: network, script: 'pending' })
  await placeholderOf('header')
  endScript('error')
  await waitFor(() => expect(blockOf('header').hidden).toBe(true))
  expect(report).toHaveBeenCalledTimes(1)
  fireEvent.click(screen.getByRole('link', { name: 'Home' }))
  expect((await entriesOf('Streamers')).join(' ')).toBe('s0 s1 s2 s3 s4')
  expect(renderedSlots()).toEqual([])
  expect(screen.getByRole('banner').querySelector('nav')?.nextElementSibling).toBeNull()
})

test('has no blocks at once if the script fails before the page is seen', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  document.head.innerHTML = '<style>.site-banner { visibility: hidden }</style>'
  await open('/', { streamers: 5, ads: network, script: 'pending' })
  await waitFor(() => blockOf('list'))
  endScript('error')
  await waitFor(() => expect(renderedSlots()).toEqual([]))
})

test('shows the page once the script has loaded', async () => {
  document.head.innerHTML = '<meta name="banner-slots" content="reserved">'
  await open('/', { streamers: 5, ads: network, script: 'pending' })
  await waitFor(() => blockOf('header'))
  expect(document.querySelector('meta')).not.toBeNull()
  endScript('load')
  expect(document.querySelector('meta')).toBeNull()
})

test('hides all blocks at once if the script fails later, and has none next', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  await open('/', { streamers: 5, ads: network, script: 'pending' })
  await waitFor(() => blockOf('list'))
  await placeholderOf('list')
  endScript('error')
  await waitFor(() => expect(blockOf('list').hidden).toBe(true))
  expect(blockOf('header').hidden).toBe(true)
  fireEvent.click(screen.getAllByRole('link', { name: 'View Sessions' })[0] ?? document)
  await screen.findByRole('list', { name: 'Sessions' })
  expect(renderedSlots()).toEqual([])
})

test('has no blocks in later documents of a visit whose ads are blocked', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  await open('/', { streamers: 5, ads: network, script: 'pending' })
  await waitFor(() => blockOf('header'))
  endScript('error')
  cleanup()
  document.head.replaceChildren()
  await open('/', { streamers: 5, ads: network, script: 'pending' })
  await waitFor(() => expect(api.requests).toContain('/api/config'))
  await waitFor(async () => expect(await entriesOf('Streamers')).toHaveLength(5))
  expect(renderedSlots()).toEqual([])
  expect(document.scripts).toHaveLength(0)
})
