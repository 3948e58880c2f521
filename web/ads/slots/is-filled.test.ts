// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { isFilled } from './is-filled.ts'

/** A block around `html` whose elements have the size of their attributes; jsdom has no layout. */
function createBlock(html: string): HTMLElement {
  const block = document.createElement('div')
  block.innerHTML = html
  for (const element of block.querySelectorAll('[width]')) {
    const width = Number(element.getAttribute('width'))
    const height = Number(element.getAttribute('height'))
    element.getBoundingClientRect = () => new DOMRect(0, 0, width, height)
  }
  return block
}

test('a frame at any depth fills a block', () => {
  const block = createBlock('<div><style></style><div><iframe></iframe></div></div><ins></ins>')
  expect(isFilled(block, 'frame')).toBe(true)
})

test('with fill `frame` nothing but a frame fills a block', () => {
  const block = createBlock(
    '<img width="300" height="250"><video width="300" height="250"></video>',
  )
  expect(isFilled(block, 'frame')).toBe(false)
})

test.each(['iframe', 'img', 'video', 'canvas', 'object'])(
  'with fill `creative` a %s of 20 x 20 fills a block, a smaller one does not',
  (name) => {
    expect(isFilled(createBlock(`<${name} width="20" height="20">`), 'creative')).toBe(true)
    expect(isFilled(createBlock(`<${name} width="300" height="19">`), 'creative')).toBe(false)
    expect(isFilled(createBlock(`<${name} width="1" height="1">`), 'creative')).toBe(false)
  },
)

test('leftovers of the script without an ad do not fill a block', () => {
  const block = createBlock('<div><style>a{}</style><div></div></div><ins data-processed="true">')
  expect(isFilled(block, 'frame')).toBe(false)
  expect(isFilled(block, 'creative')).toBe(false)
})
