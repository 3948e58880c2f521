// Build-time constants of the page.
interface ImportMetaEnv {
  /** Origin of the API where it is not the page's own, e.g. `https://api.example`. */
  readonly VITE_API_BASE?: string
}
