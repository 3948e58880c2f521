// A name or a title: of any direction, and left as it is by programs that translate pages.
import type { ComponentProps } from 'react'

export function Name(props: Omit<ComponentProps<'bdi'>, 'translate'>) {
  return <bdi {...props} translate="no" />
}
