// Lets a component watch a resource.
import { useSyncExternalStore } from 'react'
import type { LoadState, Resource } from './resource.ts'

/** The resource's state; loads it while the component is on the page. */
export function useResource<T>(resource: Resource<T>): LoadState<T> {
  return useSyncExternalStore(resource.subscribe, resource.read)
}
