// Subscribes a component to a resource.
import { useSyncExternalStore } from 'react'
import type { LoadState, Resource } from './resource.ts'

/** The resource's state; it is loaded while the component is mounted. */
export function useResource<T>(resource: Resource<T>): LoadState<T> {
  return useSyncExternalStore(resource.subscribe, resource.read)
}
