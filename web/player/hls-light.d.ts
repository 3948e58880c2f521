// hls.js ships types for its full build alone; the light build has the same surface.
declare module 'hls.js/light' {
  export { default } from 'hls.js'
  export * from 'hls.js'
}
