// What a decoder's process says to its parent.

/** Once `ready`, then one of the others per job. */
export type ChildMessage<Value> =
  | { status: 'ready' }
  | { status: 'done'; value: Value }
  | { status: 'undecodable'; reason: string }
