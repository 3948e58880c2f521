// hls.js ships types for its full build only; the light build has the same API.
declare module 'hls.js/light' {
  export { default } from 'hls.js'
  export * from 'hls.js'
}

// Modules of its source, which the build resolves (scripts/hls-from-source.ts).
declare module 'hls.js/src/demux/transmuxer.ts?copy' {
  export default class Transmuxer {
    constructor(...options: unknown[])
    configure(config: unknown): void
    push(...segment: unknown[]): unknown
    flush(chunk: unknown): unknown
    destroy(): void
  }
}

declare module 'hls.js/src/demux/transmuxer-worker.ts' {}

declare module 'hls.js/src/demux/inject-worker.ts' {
  /** The worker of this path, which all callers share; each ends its use by the second. */
  export function loadWorker(path: string): { worker: Worker }
  export function removeWorkerFromStore(path: string): void
}
