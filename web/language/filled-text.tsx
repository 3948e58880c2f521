// A text whose values are elements, such as the name of a streamer.
import { createElement, Fragment } from 'react'
import type { ReactNode } from 'react'
import type { Text } from './texts.ts'
import { fillText, translateKnown } from './translate.ts'
import type { Values } from './translate.ts'

interface FilledTextProps<T extends Text> {
  text: T
  values: Values<T, ReactNode>
}

export function FilledText<T extends Text>({ text, values }: FilledTextProps<T>) {
  return createElement(Fragment, null, ...fillText<ReactNode>(translateKnown(text), values))
}
