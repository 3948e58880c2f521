// The HTML of a house banner: inline styles, no script; a row in low slots, a box in high ones.
import type { Banner } from './house-ads.ts'

const STYLE = `
      * { box-sizing: border-box; margin: 0; }
      html, body { height: 100%; overflow: hidden; background: transparent; }
      a {
        position: relative; display: flex; height: 100%; overflow: hidden; isolation: isolate;
        flex-direction: column; justify-content: flex-end; gap: 6px; padding: 20px;
        border-radius: 12px; color: #fff7f0; text-decoration: none;
        font-family: ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif;
      }
      a:focus-visible { outline: 3px solid #8fc0ff; outline-offset: -5px; }
      svg { position: absolute; inset: 0; z-index: -1; width: 100%; height: 100%; }
      a::after {
        content: ''; position: absolute; inset: 0; z-index: -1;
        background: linear-gradient(to top, var(--shade), transparent 80%);
      }
      strong { font-size: 22px; line-height: 1.15; letter-spacing: -0.02em; }
      span { font-size: 15px; line-height: 1.35; color: #fbeadf; }
      b {
        align-self: flex-start; margin-top: 8px; padding: 8px 16px; border-radius: 99px;
        background: #fff7f0; color: #2b0e03; font-size: 14px; white-space: nowrap;
      }
      a:hover b { background: #ffffff; }
      @media (max-height: 160px) {
        a {
          flex-direction: row; align-items: center; justify-content: flex-start;
          gap: 2px 18px; padding: 8px 20px;
        }
        a::after { background: linear-gradient(to right, var(--shade), transparent 80%); }
        p { flex: 1; min-width: 0; display: flex; flex-direction: column; gap: 2px; }
        strong { font-size: 20px; }
        b { align-self: center; margin: 0; }
      }
      @media (min-height: 161px) { p { display: contents; } }
      @media (max-height: 160px) and (max-width: 460px) {
        a { padding: 6px 14px; }
        strong { font-size: 17px; }
        span { font-size: 13px; }
      }
      @media (max-height: 75px) { span { display: none; } }
      @media (prefers-reduced-motion: no-preference) {
        circle { animation: rise 1.2s ease-out both; }
        @keyframes rise { from { transform: translateY(18px); opacity: 0.4; } }
      }`

/** A complete document; the server replaces `{click}` with the link. */
export function formatBanner({ title, line, call, sky }: Banner): string {
  const [dark, middle, light] = sky
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>${title}</title>
    <style>
      /* Browsers paint a frame white if its colour scheme differs from the page's. */
      :root { color-scheme: light dark; }
      :root { --shade: ${dark}e0; }${STYLE}
    </style>
  </head>
  <body>
    <a href="{click}" target="_blank" rel="noopener sponsored nofollow">
      <svg viewBox="0 0 600 300" preserveAspectRatio="xMaxYMid slice" aria-hidden="true">
        <defs>
          <linearGradient id="sky" x2="1" y2="0.4">
            <stop stop-color="${dark}" />
            <stop offset="0.62" stop-color="${middle}" />
            <stop offset="1" stop-color="${light}" />
          </linearGradient>
        </defs>
        <rect width="600" height="300" fill="url(#sky)" />
        <circle cx="500" cy="140" r="62" fill="${light}" opacity="0.85" />
        <path d="M0 214q90-46 190-12t190-22 220 18v102H0z" fill="${dark}" opacity="0.45" />
        <path d="M0 250q120-34 240-6t200-18 160 14v60H0z" fill="${dark}" opacity="0.8" />
      </svg>
      <p><strong>${title}</strong><span>${line}</span></p>
      <b>${call}</b>
    </a>
  </body>
</html>
`
}
