import { expect, test } from 'vitest'
import { loadConfig } from '../../base/config/load-config.ts'
import { analyticsConfig } from '../../../shared/contract.ts'
import { parseExactly } from '../../../test/support/parse-exactly.ts'
import { analyticsConfigOf } from './analytics-config.ts'

function answerFor(analytics: unknown) {
  const file = { path: '/etc/aftercast.config.json', value: { analytics } }
  const config = loadConfig({ flags: {}, environment: {}, file, workingFolder: '/', cpuCount: 1 })
  return parseExactly(analyticsConfig, analyticsConfigOf(config))
}

test('names the first-party collector alone where nothing else is configured', () => {
  expect(answerFor({})).toEqual({ firstParty: true })
  expect(answerFor({ firstParty: false })).toEqual({ firstParty: false })
})

test('takes a plain text as id or domain, with the script of the service', () => {
  expect(answerFor({ ga4: 'G-1', plausible: 'a.example', umami: 'id' })).toEqual({
    firstParty: true,
    ga4: { measurementId: 'G-1', consent: {} },
    plausible: { scriptUrl: 'https://plausible.io/js/script.manual.js', domain: 'a.example' },
    umami: { scriptUrl: 'https://cloud.umami.is/script.js', websiteId: 'id' },
  })
})

test('hands on consent defaults and scripts of the operator’s own', () => {
  const consent = { ad_storage: 'denied', analytics_storage: 'granted' }
  const own = {
    ga4: { measurementId: 'G-1', consent },
    plausible: { domain: 'a.example', scriptUrl: 'https://stats.example/js/script.manual.js' },
    umami: { websiteId: 'id', scriptUrl: 'http://127.0.0.1:3000/script.js' },
  }
  expect(answerFor(own)).toEqual({ firstParty: true, ...own })
})

test('fills in the script where an object leaves it out', () => {
  expect(answerFor({ plausible: { domain: 'a' }, umami: { websiteId: 'b' } })).toMatchObject({
    plausible: { scriptUrl: 'https://plausible.io/js/script.manual.js' },
    umami: { scriptUrl: 'https://cloud.umami.is/script.js' },
  })
})
