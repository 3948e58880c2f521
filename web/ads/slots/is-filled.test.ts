// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { isFilled } from './is-filled.ts'

/** A block around `html`, whose elements are as large as their width and height say; jsdom has no layout. */
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

test('a frame fills a block wherever it is in it', () => {
  const block = createBlock('<div><style></style><div><iframe></iframe></div></div><ins></ins>')
  expect(isFilled(block, 'frame')).toBe(true)
})

test('by the rule of frames nothing else does', () => {
  const block = createBlock(
    '<img width="300" height="250"><video width="300" height="250"></video>',
  )
  expect(isFilled(block, 'frame')).toBe(false)
})

test.each(['iframe', 'img', 'video', 'canvas', 'object'])(
  'by the rule of creatives a %s of 20 x 20 does, and a smaller one does not',
  (name) => {
    expect(isFilled(createBlock(`<${name} width="20" height="20">`), 'creative')).toBe(true)
    expect(isFilled(createBlock(`<${name} width="300" height="19">`), 'creative')).toBe(false)
    expect(isFilled(createBlock(`<${name} width="1" height="1">`), 'creative')).toBe(false)
  },
)

test('what a script leaves without an ad fills nothing', () => {
  const block = createBlock('<div><style>a{}</style><div></div></div><ins data-processed="true">')
  expect(isFilled(block, 'frame')).toBe(false)
  expect(isFilled(block, 'creative')).toBe(false)
})
