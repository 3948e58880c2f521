// Messages from a decoder process to its parent.

/** `ready` once, then one of the others per job. */
export type ChildMessage<Value> =
  | { status: 'ready' }
  | { status: 'done'; value: Value }
  | { status: 'undecodable'; reason: string }
