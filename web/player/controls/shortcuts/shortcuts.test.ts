import { expect, test } from 'vitest'
import { commandOf, isRepeated, usesKey } from './shortcuts.ts'
import type { FocusedControl, KeyPress } from './shortcuts.ts'

function press(key: string, change: Partial<KeyPress> = {}): KeyPress {
  const modifiers = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false }
  return { key, code: '', ...modifiers, isComposing: false, ...change }
}

test.each([
  ['k', { name: 'toggle' }],
  [' ', { name: 'toggle' }],
  // Caps Lock.
  ['K', { name: 'toggle' }],
  ['j', { name: 'seek by', seconds: -10 }],
  ['l', { name: 'seek by', seconds: 10 }],
  ['ArrowLeft', { name: 'seek by', seconds: -5 }],
  ['ArrowRight', { name: 'seek by', seconds: 5 }],
  ['f', { name: 'fullscreen' }],
  ['m', { name: 'mute' }],
  ['c', { name: 'subtitles' }],
  ['t', { name: 'theatre' }],
  ['0', { name: 'seek to', tenth: 0 }],
  ['9', { name: 'seek to', tenth: 9 }],
  ['<', { name: 'slower' }],
  ['>', { name: 'faster' }],
  [',', { name: 'step', frames: -1 }],
  ['.', { name: 'step', frames: 1 }],
  ['?', { name: 'help' }],
  ['n', undefined],
  ['p', undefined],
  ['x', undefined],
  ['ArrowUp', undefined],
  ['Enter', undefined],
  ['constructor', undefined],
])('the key %j', (key, command) => {
  expect(commandOf(press(key))).toEqual(command)
})

test.each([
  ['N', { name: 'next' }],
  ['P', { name: 'previous' }],
  ['<', { name: 'slower' }],
  ['>', { name: 'faster' }],
  ['?', { name: 'help' }],
  // French keyboards have digits on Shift.
  ['7', { name: 'seek to', tenth: 7 }],
  ['K', undefined],
  [' ', undefined],
  ['ArrowRight', undefined],
])('the key %j with Shift', (key, command) => {
  expect(commandOf(press(key, { shiftKey: true }))).toEqual(command)
})

test('reads the place of the key on a keyboard without Latin letters', () => {
  expect(commandOf(press('л', { code: 'KeyK' }))).toEqual({ name: 'toggle' })
  expect(commandOf(press('т', { code: 'KeyN', shiftKey: true }))).toEqual({ name: 'next' })
  expect(commandOf(press('x', { code: 'KeyK' }))).toBeUndefined()
})

test.each(['ctrlKey', 'altKey', 'metaKey', 'isComposing'])('has no command with %s', (name) => {
  for (const key of ['k', ' ', 'ArrowRight', '1', '?']) {
    expect(commandOf(press(key, { [name]: true }))).toBeUndefined()
  }
})

test('repeats seeks while the key is held down, but toggles nothing repeatedly', () => {
  const keys = ['l', '.', '<', 'k', ' ', 'm', 'f', 't', '?']
  const repeated = keys.filter((key) => {
    const command = commandOf(press(key))
    return command && isRepeated(command)
  })
  expect(repeated).toEqual(['l', '.', '<'])
})

const plain: FocusedControl = { tagName: 'div', type: '', role: '', isEditable: false }

test.each<[string, Partial<FocusedControl>, { used: string[]; unused: string[] }]>([
  ['the page', { tagName: 'body' }, { used: [], unused: [' ', 'k', 'ArrowRight', '1'] }],
  ['the video', { tagName: 'video' }, { used: [], unused: [' ', 'k', 'ArrowRight'] }],
  ['a link', { tagName: 'a' }, { used: [], unused: [' ', 'k', 'ArrowRight'] }],
  [
    'a search box',
    { tagName: 'input', type: 'search' },
    { used: [' ', 'k', 'ArrowLeft', '?'], unused: [] },
  ],
  ['an input', { tagName: 'input', type: 'text' }, { used: [' ', 'k', '1'], unused: [] }],
  ['a date', { tagName: 'input', type: 'date' }, { used: ['1'], unused: [] }],
  ['a selection', { tagName: 'select' }, { used: [' ', 'k', '1'], unused: [] }],
  ['an editable element', { isEditable: true }, { used: [' ', 'k'], unused: [] }],
  ['a combo box', { role: 'combobox' }, { used: ['k'], unused: [] }],
  ['a button', { tagName: 'button' }, { used: [' '], unused: ['k', 'ArrowRight', '1'] }],
  ['a summary', { tagName: 'summary' }, { used: [' '], unused: ['k'] }],
  ['a check box', { tagName: 'input', type: 'checkbox' }, { used: [' '], unused: ['k'] }],
  [
    'a range',
    { tagName: 'input', type: 'range' },
    { used: ['ArrowRight', 'Home'], unused: ['k', ' '] },
  ],
  ['a slider', { role: 'slider' }, { used: ['ArrowRight', 'End'], unused: ['k', ' '] }],
  ['a menu item', { role: 'menuitemradio' }, { used: [' ', 'ArrowLeft'], unused: ['k'] }],
])('%s uses its own keys and no others', (_, control, { used, unused }) => {
  const focused = { ...plain, ...control }
  expect(used.filter((key) => !usesKey(focused, key))).toEqual([])
  expect(unused.filter((key) => usesKey(focused, key))).toEqual([])
})
