// Which key does what on the player page: a pure map, in the keys of YouTube.
import type { PlainText } from '../../../language/texts.ts'

/** An action of a shortcut. */
export type Command =
  | { name: 'toggle' | 'mute' | 'fullscreen' | 'subtitles' | 'theatre' | 'help' }
  | { name: 'next' | 'previous' }
  | { name: 'seek by'; seconds: number }
  /** `tenth` is 0 to 9: the start of that tenth of the session. */
  | { name: 'seek to'; tenth: number }
  /** One step of the speeds on offer. */
  | { name: 'faster' | 'slower' }
  /** While paused. */
  | { name: 'step'; frames: 1 | -1 }

/** The facts of a KeyboardEvent. */
export interface KeyPress {
  key: string
  /** The physical key: `KeyK`. */
  code: string
  shiftKey: boolean
  ctrlKey: boolean
  altKey: boolean
  metaKey: boolean
  isComposing: boolean
}

const PLAIN = new Map<string, Command>([
  ['k', { name: 'toggle' }],
  [' ', { name: 'toggle' }],
  ['j', { name: 'seek by', seconds: -10 }],
  ['l', { name: 'seek by', seconds: 10 }],
  ['arrowleft', { name: 'seek by', seconds: -5 }],
  ['arrowright', { name: 'seek by', seconds: 5 }],
  ['f', { name: 'fullscreen' }],
  ['m', { name: 'mute' }],
  ['c', { name: 'subtitles' }],
  ['t', { name: 'theatre' }],
])
const SHIFTED = new Map<string, Command>([
  ['n', { name: 'next' }],
  ['p', { name: 'previous' }],
])
/** Keyboard layouts differ in which of these need Shift. */
const SIGNS = new Map<string, Command>([
  ['?', { name: 'help' }],
  ['<', { name: 'slower' }],
  ['>', { name: 'faster' }],
  [',', { name: 'step', frames: -1 }],
  ['.', { name: 'step', frames: 1 }],
])
/** The command of a key; undefined if the key has none or belongs to the browser. */
export function commandOf(press: KeyPress): Command | undefined {
  if (press.ctrlKey || press.altKey || press.metaKey || press.isComposing) return undefined
  const { key, code, shiftKey } = press
  if (/^\d$/.test(key)) return { name: 'seek to', tenth: Number(key) }
  // On a keyboard without Latin letters, the key at the place of the letter.
  const isLatin = /^[ -~]+$/.test(key)
  const name = (isLatin ? key : code.replace(/^Key/, '')).toLowerCase()
  return SIGNS.get(name) ?? (shiftKey ? SHIFTED : PLAIN).get(name)
}

const REPEATED = new Set<Command['name']>(['seek by', 'step', 'faster', 'slower'])

/** Whether holding the key down repeats the command. */
export function isRepeated({ name }: Command): boolean {
  return REPEATED.has(name)
}

/** The facts of the focused element. */
export interface FocusedControl {
  /** In lower case. */
  tagName: string
  /** The `type` of an input. */
  type: string
  /** The `role` attribute; empty if there is none. */
  role: string
  isEditable: boolean
}

const TYPING_ROLES = new Set(['textbox', 'searchbox', 'combobox', 'listbox', 'spinbutton'])
const BUTTON_ROLES = new Set(['button', 'checkbox', 'switch', 'tab', 'option', 'link'])
const UNTYPED_INPUTS = new Set(
  'button checkbox color file image radio range reset submit'.split(' '),
)

/** Whether the focused element uses the key itself. */
export function usesKey(control: FocusedControl, key: string): boolean {
  if (isTyping(control)) return true
  const { tagName, type, role } = control
  const isArrow = key.startsWith('Arrow')
  if (role === 'slider' || type === 'range') return isArrow || key === 'Home' || key === 'End'
  if (role.startsWith('menuitem') || role === 'radio' || type === 'radio') {
    return isArrow || key === ' '
  }
  const isButton = ['button', 'summary', 'input'].includes(tagName) || BUTTON_ROLES.has(role)
  return isButton && key === ' '
}

function isTyping({ tagName, type, role, isEditable }: FocusedControl): boolean {
  if (isEditable || TYPING_ROLES.has(role)) return true
  if (tagName === 'input') return !UNTYPED_INPUTS.has(type)
  return tagName === 'textarea' || tagName === 'select'
}

/** The list of the help dialog: keys and what they do. */
export const SHORTCUT_HELP: readonly (readonly [keys: readonly string[], action: PlainText])[] = [
  [['K', 'Space'], 'Play or pause'],
  [['J', 'L'], '10 seconds back or forward'],
  [['←', '→'], '5 seconds back or forward'],
  [[',', '.'], 'Previous or next frame, while paused'],
  [['0', '9'], 'Go to a tenth of the session'],
  [['<', '>'], 'Slower or faster'],
  [['M'], 'Mute'],
  [['C'], 'Subtitles'],
  [['F'], 'Full screen'],
  [['T'], 'Theatre'],
  [['Shift N', 'Shift P'], 'Next or previous session'],
  [['?'], 'This list'],
]
