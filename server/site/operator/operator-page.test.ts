// The operator's page with hostile names, long lists, and parts that could not be read.
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ImperfectRow, OperatorState } from './operator-state.ts'
import { parseDone, renderOperatorPage, renderRefusal } from './operator-page.ts'
import { createPageHeaders } from './page-style.ts'

const HOSTILE = `"><script>alert('1')</script>&\u202e\n\ud800`
const row: ImperfectRow = {
  path: HOSTILE,
  problems: [{ message: HOSTILE, advice: HOSTILE }],
}
const state: OperatorState = {
  version: '1.2.3',
  uptimeSeconds: 90_061,
  atMs: Date.parse('2026-01-31T12:00:00Z'),
  library: {
    status: 'known',
    value: {
      isWalked: true,
      streamers: 2,
      sessions: 1_234_567,
      unindexed: 3,
      queue: { recordings: 4, ageMs: 61_000 },
      advice: `11 recordings match no session, e.g. ${HOSTILE}`,
    },
  },
  node: {
    isDatabaseUp: false,
    isScanning: true,
    lagGenerations: 5,
    lagMs: 6000,
    outbox: 7,
    jobs: [{ queue: 'inspections', waiting: 8, active: 9, oldestSeconds: 10 }],
  },
  disks: [
    {
      contents: 'Data',
      space: { status: 'known', value: { freeBytes: 2 ** 30, totalBytes: 2 ** 32 } },
    },
    { contents: 'Recordings', space: { status: 'object-store' } },
  ],
  caches: {
    status: 'known',
    value: {
      segmentHits: 3,
      segmentMisses: 1,
      segmentBytes: 1536,
      openRecordings: 1,
      artifactHits: undefined,
      artifactMisses: undefined,
      refused: 0,
      encodes: { running: 1, waiting: 2, finished: 3, cpuSeconds: 64 },
    },
  },
  imperfect: {
    status: 'known',
    value: {
      unplayable: { total: 12_345, rows: [row] },
      limited: { total: 1, rows: [{ path: 'slow.mp4', problems: undefined }] },
      duplicates: { total: 0, rows: [] },
    },
  },
  top: {
    status: 'known',
    value: [{ streamer: HOSTILE, date: HOSTILE, sessionId: HOSTILE, plays: 2, views: 3 }],
  },
  networks: [
    { network: '2001:db8:0:1', bytes: 3 * 2 ** 30 },
    { network: HOSTILE, bytes: 1 },
  ],
  hidden: {
    status: 'known',
    value: {
      names: { total: 1, rows: [{ streamer: HOSTILE, date: 'a', sessionId: 'b\nc' }] },
      log: {
        total: 1,
        rows: [
          { atMs: 0, action: 'hide', streamer: HOSTILE, date: '', sessionId: '', reason: HOSTILE },
        ],
      },
    },
  },
}

function render(changes: Partial<OperatorState> = {}, canChange = true): string {
  return renderOperatorPage({ ...state, ...changes }, { done: undefined, canChange })
}

describe('the page of an operator', () => {
  it('contains names as text only', () => {
    const page = render()
    expect(page).not.toMatch(/<script|\salert\('/)
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;')
    // Control characters are visible; what is no Unicode is replaced.
    expect(page).toContain('\\n')
    expect(page.isWellFormed()).toBe(true)
    // A form would change the line end of a name.
    expect(page).toContain('/a/b%0Ac"')
    expect(renderRefusal(HOSTILE)).not.toContain('<script')
  })

  it('shows figures, totals of long lists, and what is not read yet', () => {
    const page = render()
    const texts = ['1.2.3', '1 d 1 h', '1,234,567', '4, for 1 min 1 s', '1.5 KiB', '1 of 12,345']
    const others = ['1.0 GiB of 4.0 GiB (25\u00a0%)', '75\u00a0% of 4', 'Not read in time']
    for (const text of [
      ...texts,
      ...others,
      'not reachable',
      'an object store',
      '2001:db8:0:1::/64',
      '3.0 GiB',
      '1 min 4 s',
      '1970-01-01T00:00:00Z',
    ])
      expect(page, text).toContain(text)
  })

  it('has a caption, and headers with a scope, in each table, and a label for each field', () => {
    const page = render()
    const tables = page.split('<table').slice(1)
    expect(tables.length).toBeGreaterThan(7)
    for (const table of tables) {
      expect(table).toContain('<caption>')
      expect(table).not.toMatch(/<th(?![^>]* scope=)[ >]/)
    }
    const fields = page.match(/<input(?![^>]*type="radio")/g) ?? []
    expect(page.match(/<label\s*>/g)).toHaveLength(fields.length)
    expect(page).toMatch(/<label class="choice">\s*<input type="radio"[^>]*>\s*<bdi>/)
  })

  it('is read-only without a token, and names the key', () => {
    const page = render({}, false)
    expect(page).not.toMatch(/<form|<input|<button/)
    expect(page).toContain('AFTERCAST_OPERATOR_TOKEN')
  })

  it('shows the other parts if some could not be read', () => {
    const { node: _node, top: _top, ...alone } = state
    const none = { status: 'unknown' } as const
    const parts = { library: none, caches: none, imperfect: none, hidden: none }
    const page = renderOperatorPage({ ...alone, ...parts }, { done: undefined, canChange: true })
    expect(page.match(/it could not be read/g)).toHaveLength(5)
    expect(page).toContain('1.0 GiB')
    expect(page).toContain('name="token"')
  })

  it('shows messages of a closed list', () => {
    const done = parseDone('was-hidden')
    expect(renderOperatorPage(state, { done, canChange: true })).toContain('already hidden')
    for (const other of ['', 'toString', HOSTILE, null]) expect(parseDone(other)).toBe(undefined)
  })

  it('has the one style that its policy permits', () => {
    const [, style = ''] = /<style>(?<style>[^]*)<\/style>/.exec(render()) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(createPageHeaders()['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; ` +
        `frame-ancestors 'none'; base-uri 'none'`,
    )
    expect(render()).not.toMatch(/ style=|<link|<img| on[a-z]+=/)
  })
})
