// Closes what a block has opened when the block ends, however it ends.

/** For `using`: calls `close` at the end of the block. */
export function closing(resource: { close(): void }): Disposable {
  return { [Symbol.dispose]: () => resource.close() }
}

/** For `await using`: waits for `close` at the end of the block. */
export function closingAsync(resource: { close(): Promise<void> }): AsyncDisposable {
  return { [Symbol.asyncDispose]: async () => resource.close() }
}
