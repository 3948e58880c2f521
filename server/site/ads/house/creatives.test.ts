import { describe, expect, it } from 'vitest'
import { chooseBanners, chooseVideo } from './choose-creatives.ts'
import { parseCreatives } from './creatives.ts'
import type { Creative } from './creatives.ts'
import { readHouseAds } from './read-creatives.ts'

const page = { id: 'one', kind: 'page', file: 'one.html', alt: 'One', link: '/' }
const film = {
  id: 'film',
  kind: 'video',
  file: 'film.mp4',
  alt: 'Film',
  link: 'https://a.example/x',
  durationSeconds: 6,
  width: 640,
  height: 360,
}

function parse(...creatives: object[]): Creative[] {
  return parseCreatives(JSON.stringify({ creatives }))
}

describe('parseCreatives', () => {
  it('reads pages, images and videos, with a weight of 1 where none is given', () => {
    const image = { ...page, id: 'two', kind: 'image', file: 'two.png', weight: 5 }
    expect(parse(page, image, film)).toEqual([
      { ...page, weight: 1 },
      image,
      { ...film, weight: 1 },
    ])
  })

  it.each([
    ['a file in another folder', { ...page, file: '../secret.html' }, 'creatives.0.file'],
    ['a hidden file', { ...page, file: '.one.html' }, 'creatives.0.file'],
    ['a file of another kind', { ...page, file: 'one.mp4' }, 'must end in .html'],
    ['a script as a link', { ...page, link: 'javascript:alert(1)' }, 'creatives.0.link'],
    ['a link that leaves by //', { ...page, link: '//evil.example' }, 'creatives.0.link'],
    ['a link that leaves by /\\', { ...page, link: '/\\evil.example' }, 'creatives.0.link'],
    ['a link with a line break', { ...page, link: '/a\r\nset-cookie:x' }, 'creatives.0.link'],
    ['an empty alt text', { ...page, alt: ' ' }, 'creatives.0.alt'],
    ['a day that is none', { ...page, from: '2026-02-30' }, 'creatives.0.from'],
    ['no weight at all', { ...page, weight: 0 }, 'creatives.0.weight'],
    ['an unknown key', { ...page, colour: 'red' }, 'colour'],
    ['an unknown kind', { ...page, kind: 'popup' }, 'creatives.0.kind'],
    ['a video without a length', { ...film, durationSeconds: undefined }, 'durationSeconds'],
  ])('refuses %s and names it', (_what, creative, named) => {
    expect(() => parse(creative)).toThrow(named)
  })

  it('formats a link so that it is safe in a header', () => {
    const [creative] = parse({ ...page, link: 'https://bücher.example/ü\r\nset-cookie:x' })
    expect(creative?.link).toBe('https://xn--bcher-kva.example/%C3%BCset-cookie:x')
  })

  it('removes what XML cannot contain from the alt text', () => {
    const [creative] = parse({ ...page, alt: '\u0001One\n\u0002two ' })
    expect(creative?.alt).toBe('One two')
  })

  it('refuses two creatives of one id, and what is not JSON', () => {
    expect(() => parse(page, page)).toThrow('two creatives have the same id')
    expect(() => parseCreatives('{')).toThrow('creatives.json is not JSON')
    expect(() => parseCreatives('[]')).toThrow('creatives.json: must be an object: { … }')
    expect(() => parseCreatives('{"creatives":[{"kind":"film"}]}')).toThrow(
      'creatives.json: creatives.0.kind: must be page, image or video',
    )
  })
})

describe('chooseBanners', () => {
  const banner = (id: string, rest: object = {}) => ({ ...page, id, ...rest })
  const ids = (
    creatives: Creative[],
    zones: string[],
    options: { day?: string; at?: number } = {},
  ) =>
    chooseBanners(creatives, zones, {
      day: options.day ?? '2026-06-15',
      random: () => options.at ?? 0,
    }).map((chosen) => chosen?.id)

  it('chooses by weight', () => {
    const both = parse(banner('light'), banner('heavy', { weight: 3 }))
    const chosen = [0, 0.2, 0.25, 0.5, 0.999].map((at) => ids(both, ['a'], { at })[0])
    expect(chosen).toEqual(['light', 'light', 'heavy', 'heavy', 'heavy'])
  })

  it('gives neighbours different ads until each has been shown', () => {
    const three = parse(banner('a'), banner('b'), banner('c'))
    expect(ids(three, ['x', 'x', 'x', 'x'])).toEqual(['a', 'b', 'c', 'a'])
  })

  it('shows an ad from its first day to its last', () => {
    const dated = parse(banner('a', { from: '2026-06-15', until: '2026-06-16' }))
    const days = ['2026-06-14', '2026-06-15', '2026-06-16', '2026-06-17']
    expect(days.map((day) => ids(dated, ['x'], { day })[0])).toEqual([
      undefined,
      'a',
      'a',
      undefined,
    ])
  })

  it('keeps to zones, and leaves a place empty where nothing fits', () => {
    const zoned = parse(banner('top', { zones: ['header'] }), film)
    expect(ids(zoned, ['list', 'header'])).toEqual([undefined, 'top'])
  })

  it('chooses a video for a pre-roll and nothing else', () => {
    const chance = { day: '2026-06-15', random: () => 0.999 }
    expect(chooseVideo(parse(page, film), 'video', chance)?.id).toBe('film')
    expect(chooseVideo(parse(page), 'video', chance)).toBeUndefined()
  })
})

it('has the texts and colours of each built-in banner in its page', async () => {
  const { creatives, pages } = await readHouseAds('/nowhere')
  for (const { id, kind, alt } of creatives) {
    if (kind !== 'page') continue
    expect(pages.get(id)?.match(/\{\w+\}/g)).toEqual(['{click}'])
    expect(alt).toContain(/<title>(.*)<\/title>/.exec(pages.get(id) ?? '')?.[1] ?? 'a title')
  }
  expect(pages.size).toBeGreaterThan(1)
})
