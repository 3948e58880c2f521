import { describe, expect, it } from 'vitest'
import type { AdsConfig, AnalyticsConfig } from '../../../../shared/contract.ts'
import { createPagePolicy, createSecurityHeaders, PERMISSIONS_POLICY } from './security-headers.ts'

const styleHashes = ["'sha256-abc='"]
const house: AdsConfig = {
  provider: 'house',
  scriptPath: '/api/proxy-ad/house/ad-provider.js',
  insClass: 'promo-ins',
  zones: {},
  fill: 'frame',
}
const network: AdsConfig = { ...house, provider: 'network' }
const adUrls = [
  'https://a.example',
  'http://127.0.0.1:9000',
  'https://v.example:8443/vast.php?idzone={zone}',
]

function policyOf(ads: AdsConfig, analytics: AnalyticsConfig = { firstParty: true }) {
  return createPagePolicy({ config: { ads, analytics }, adUrls, styleHashes })
}

const strict = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'", "'sha256-abc='"],
  'img-src': ["'self'", 'data:'],
  'media-src': ["'self'", 'blob:'],
  'connect-src': ["'self'"],
  'worker-src': ["'self'", 'blob:'],
  'font-src': ["'self'"],
  'manifest-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'self'"],
  'object-src': ["'none'"],
}

describe('createPagePolicy', () => {
  it('is strict without ads, whatever hosts are configured', () => {
    expect(policyOf({ provider: 'none' })).toEqual(strict)
  })

  it('lets house ads show frames of this site, and nothing more', () => {
    expect(policyOf(house)).toEqual({ ...strict, 'frame-src': ["'self'"] })
  })

  it('opens for a network what its creatives need, and names its origins as configured', () => {
    expect(policyOf(network)).toEqual({
      ...strict,
      'script-src': [
        "'self'",
        "'unsafe-inline'",
        'https://a.example',
        'http://127.0.0.1:9000',
        'https://v.example:8443',
        'https:',
      ],
      'style-src': ["'self'", "'unsafe-inline'", 'https:'],
      'img-src': ["'self'", 'data:', ...everywhere],
      'media-src': ["'self'", 'blob:', ...everywhere],
      'connect-src': ["'self'", ...everywhere],
      'frame-src': ["'self'", ...everywhere],
      'font-src': ["'self'", 'data:', 'https:'],
    })
  })

  const everywhere = [
    'https://a.example',
    'http://127.0.0.1:9000',
    'https://v.example:8443',
    'https:',
  ]

  it('never allows eval, plug-ins, another base or a form, ads or not', () => {
    for (const ads of [{ provider: 'none' } as const, house, network]) {
      const policy = policyOf(ads)
      expect(JSON.stringify(policy)).not.toContain('unsafe-eval')
      expect(policy['default-src']).toEqual(["'none'"])
      expect(policy['object-src']).toEqual(["'none'"])
      expect(policy['base-uri']).toEqual(["'none'"])
      expect(policy['form-action']).toEqual(["'none'"])
      expect(policy['frame-ancestors']).toEqual(["'self'"])
    }
  })

  it('names the hosts of analytics targets as they are written, http included', () => {
    const policy = policyOf(
      { provider: 'none' },
      {
        firstParty: true,
        ga4: { measurementId: 'G-1', consent: {} },
        plausible: { scriptUrl: 'https://stats.example/js/script.js', domain: 'site.example' },
        umami: { scriptUrl: 'http://127.0.0.1:3000/script.js', websiteId: 'w' },
      },
    )
    const own = ['https://stats.example', 'http://127.0.0.1:3000']
    expect(policy['script-src']).toEqual(["'self'", 'https://*.googletagmanager.com', ...own])
    expect(policy['connect-src']).toEqual([
      "'self'",
      'https://*.google-analytics.com',
      'https://*.analytics.google.com',
      'https://*.googletagmanager.com',
      ...own,
    ])
    expect(policy['style-src']).toEqual(strict['style-src'])
    expect(policy['frame-src']).toBeUndefined()
  })
})

describe('PERMISSIONS_POLICY', () => {
  it('turns off what nobody here needs, and keeps what a player needs', () => {
    expect(PERMISSIONS_POLICY).toContain('camera=()')
    expect(PERMISSIONS_POLICY).toContain('browsing-topics=()')
    expect(PERMISSIONS_POLICY).toContain('autoplay=(self)')
    expect(PERMISSIONS_POLICY).toContain('picture-in-picture=(self)')
  })
})

describe('createSecurityHeaders', () => {
  it('writes the policy as one text, and gives data a policy of its own', () => {
    const pagePolicy = { 'default-src': ["'none'"], 'img-src': ["'self'", 'data:'] }
    const options = { pagePolicy, embedPolicy: pagePolicy, readers: 'cross-origin' } as const
    const { page, data } = createSecurityHeaders(options)
    expect(page['content-security-policy']).toBe("default-src 'none';img-src 'self' data:")
    expect(data['content-security-policy']).toContain('sandbox')
    const same = {
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
    }
    expect(page).toMatchObject(same)
    expect(data).toMatchObject(same)
  })
})
