// A link to a page of this site. The one of the router has code for servers and prefetching.
import type { ComponentProps } from 'react'
import { useHref, useLinkClickHandler } from 'react-router'

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  to: string
}

export function Link({ to, onClick, children, ...props }: LinkProps) {
  const navigate = useLinkClickHandler(to)
  return (
    <a
      {...props}
      href={useHref(to)}
      onClick={(event) => {
        onClick?.(event)
        if (!event.defaultPrevented) navigate(event)
      }}
    >
      {children}
    </a>
  )
}
