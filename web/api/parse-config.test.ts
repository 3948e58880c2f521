import { expect, test } from 'vitest'
import type { ConfigAnswer } from '../../shared/contract.ts'
import { NO_EXTRAS, parseConfig } from './parse-config.ts'

const full: ConfigAnswer = {
  ads: {
    provider: 'network',
    scriptPath: '/api/proxy-ad/a.example/ad-provider.js',
    insClass: 'eas6a97888e2',
    vastUrl: 'https://ads.example/vast?idzone={zone}',
    zones: { banner: '1', inline: '2', video: '3' },
    fill: 'creative',
  },
  analytics: {
    firstParty: true,
    ga4: { measurementId: 'G-1', consent: { ad_storage: 'denied', analytics_storage: 'granted' } },
    plausible: { scriptUrl: 'https://plausible.io/js/script.manual.js', domain: 'a.example' },
    umami: { scriptUrl: 'https://cloud.umami.is/script.js', websiteId: 'w' },
  },
}

test('keeps a whole answer as it is', () => {
  expect(parseConfig(full, '')).toEqual(full)
})

test('puts the origin of the API before paths, and leaves addresses alone', () => {
  const { ads } = parseConfig(full, 'https://api.example')
  expect(ads).toMatchObject({
    scriptPath: 'https://api.example/api/proxy-ad/a.example/ad-provider.js',
    vastUrl: 'https://ads.example/vast?idzone={zone}',
  })
})

test.each([null, 7, 'text', [], {}, { ads: null, analytics: 3 }, { ads: { provider: 'house' } }])(
  'switches everything off for %j',
  (answer) => {
    expect(parseConfig(answer, '')).toEqual(NO_EXTRAS)
  },
)

test('drops single fields of another shape', () => {
  const answer = {
    ads: { provider: 'house', insClass: 'x', scriptPath: 1, zones: { banner: 5, inline: '' } },
    analytics: { firstParty: 'yes', ga4: { measurementId: 1 }, plausible: { domain: 'a' } },
  }
  expect(parseConfig(answer, '')).toEqual({
    ads: { provider: 'house', insClass: 'x', zones: {}, fill: 'frame' },
    analytics: { firstParty: false },
  })
})
