// The style of the operator's page, and the policy that permits this style and nothing else.
import { createHash } from 'node:crypto'

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#fbf8f4, #14110f);
  --surface: light-dark(#ffffff, #1e1916);
  --line: light-dark(#e7ddd3, #342c27);
  --edge: light-dark(#93857a, #7c6e64);
  --text: light-dark(#211a16, #f6efe9);
  --quiet: light-dark(#665a51, #b9aca2);
  --accent: light-dark(#b93a16, #ff8d61);
  --on-accent: light-dark(#ffffff, #2b0e03);
  --focus: light-dark(#1c5fd1, #8fc0ff);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 ui-sans-serif, system-ui, sans-serif;
}
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 0 0 .5rem; font-size: 1.125rem; }
p { margin: .5rem 0; }
a { color: var(--accent); }
.quiet { color: var(--quiet); }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
section {
  margin-top: 1rem; padding: 1rem; min-width: 0; border: 1px solid var(--line);
  border-radius: .5rem; background: var(--surface);
}
.grid > section { margin-top: 0; }
.grid { margin-top: 1rem; }
.message { margin-top: 1rem; padding: .75rem 1rem; border-left: .25rem solid var(--accent); background: var(--surface); overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
table + table, form + table, p + table { margin-top: 1rem; }
caption { padding-bottom: .25rem; font-weight: 600; text-align: start; }
th, td { padding: .375rem .75rem .375rem 0; border-top: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; }
thead th { color: var(--quiet); font-weight: 400; }
.number { text-align: end; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
th:last-child, td:last-child { padding-inline-end: 0; }
.grid th, .grid td { overflow-wrap: break-word; }
.half { width: 45%; }
.fields { display: grid; gap: .75rem; max-width: 32rem; }
.fields label { display: grid; gap: .25rem; }
.choice { display: flex; gap: .75rem; }
input { font: inherit; }
input:not([type=radio]) {
  width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--edge);
  border-radius: .375rem; background: var(--page); color: inherit;
}
input[type=radio] { flex: none; width: 1.25rem; height: 1.25rem; margin: .125rem 0; accent-color: var(--accent); }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; }
button {
  min-height: 2.75rem; padding: .5rem 1.25rem; border: 1px solid var(--accent); border-radius: .375rem;
  background: var(--accent); color: var(--on-accent); font: inherit; cursor: pointer;
}
button.second { background: none; color: var(--accent); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
`

/** Headers of every response of the page (CSP Level 3, RFC 9111 5.2.2.5). */
export function createPageHeaders(): Readonly<Record<string, string>> {
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64')
  return {
    'cache-control': 'no-store',
    'content-security-policy':
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; ` +
      "frame-ancestors 'none'; base-uri 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    // With `no-referrer`, the Origin of the forms would be `null`.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  }
}
