import { describe, expect, it } from 'vitest'
import { createPublicLookup, findLiteralAddress, isPublicAddress } from './public-address.ts'
import type { ResolveHost } from './public-address.ts'

describe('isPublicAddress', () => {
  it.each(['93.184.216.34', '8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
    'takes %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.9.9.9'],
    ['loopback', '::1'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '192.168.1.1'],
    ['link-local, where clouds keep their secrets', '169.254.169.254'],
    ['link-local', 'fe80::1'],
    ['shared by carriers', '100.64.0.1'],
    ['unique local', 'fd00::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped private', '::ffff:a00:1'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['this host', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['unspecified', '::'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['benchmarks', '198.18.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64 of a network', '64:ff9b:1::7f00:1'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['IPv4-compatible', '::8.8.8.8'],
    ['site-local', 'fec0::1'],
    ['site-local', 'feff::1'],
    ['assigned to nobody', '4000::1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:7f00:1::'],
    ['no address', 'localhost'],
    ['nothing', ''],
  ])('refuses %s: %s', (_kind, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

describe('findLiteralAddress', () => {
  it.each([
    ['http://127.0.0.1', '127.0.0.1'],
    ['http://2130706433', '127.0.0.1'],
    ['http://0x7f.1', '127.0.0.1'],
    ['http://0177.0.0.1', '127.0.0.1'],
    ['http://127.1', '127.0.0.1'],
    ['http://0', '0.0.0.0'],
    ['http://[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['http://[::1]:8080', '::1'],
    ['http://①②⑦.0.0.1', '127.0.0.1'],
    ['http://ads.example', undefined],
  ])('finds in %s the address %s', (url, address) => {
    expect(findLiteralAddress(new URL(url))).toBe(address)
  })
})

describe('createPublicLookup', () => {
  const look = async (addresses: string[]) => {
    const resolve: ResolveHost = (_hostname, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    const { promise, resolve: answer } = Promise.withResolvers<unknown>()
    createPublicLookup(resolve)('ads.example', { all: true }, (error, found) =>
      answer(error?.message ?? found),
    )
    return promise
  }

  it('hands out public addresses', async () => {
    expect(await look(['8.8.8.8', '2606:4700:4700::1111'])).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700:4700::1111', family: 6 },
    ])
  })

  it('refuses a name with one private address among public ones', async () => {
    expect(await look(['8.8.8.8', '127.0.0.1'])).toBe('ads.example has no public address')
  })

  it('refuses a name without any address', async () => {
    expect(await look([])).toBe('ads.example has no public address')
  })
})
