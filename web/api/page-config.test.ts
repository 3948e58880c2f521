import { expect, test } from 'vitest'
import { parsePageConfig } from './page-config.ts'

const network = {
  provider: 'network',
  scriptPath: '/api/proxy-ad/a.example/ad-provider.js',
  insClass: 'eas6a97888e2',
  vastUrl: 'https://ads.example/vast?idzone={zone}',
  zones: {},
  fill: 'frame',
}

test('prefixes paths with the origin of the API, and does not change URLs', () => {
  const { ads } = parsePageConfig({ ads: network, analytics: {} }, 'https://api.example')
  expect(ads).toMatchObject({
    scriptPath: 'https://api.example/api/proxy-ad/a.example/ad-provider.js',
    vastUrl: 'https://ads.example/vast?idzone={zone}',
  })
})

test.each(['', '/tv'])(
  'does not change paths on the page’s own origin, with the API at "%s"',
  (at) => {
    expect(parsePageConfig({ ads: network, analytics: {} }, at).ads).toEqual(network)
  },
)

test('the paths contain the base path of the API already', () => {
  const paths = { scriptPath: '/tv/a.js', vastUrl: '/tv/vast?zone={zone}' }
  const house = { provider: 'house', insClass: 'x', ...paths }
  const { ads } = parsePageConfig({ ads: house, analytics: {} }, 'https://api.example/tv')
  expect(ads).toMatchObject({
    scriptPath: 'https://api.example/tv/a.js',
    vastUrl: 'https://api.example/tv/vast?zone={zone}',
  })
})

test('adds no script and no pre-roll where the server has none', () => {
  const { ads } = parsePageConfig(
    { ads: { provider: 'house', insClass: 'x' } },
    'https://a.example',
  )
  expect(ads).toEqual({ provider: 'house', insClass: 'x', zones: {}, fill: 'frame' })
})
