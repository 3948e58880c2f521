// A chart of the segments benchmark: for every row a bar of its speed and one of its cost, as an
// SVG for both colour schemes.

/** One row: a form of a server, and what it sends. */
export interface ChartBar {
  name: string
  megabytesPerSecond: number
  cpuSecondsPerGigabyte: number
}

/** Title above the bars. */
export interface ChartTitle {
  title: string
  /** Machine and date. */
  caption: string
}

const WIDTH = 960
const NAME_WIDTH = 300
const PANEL_GAP = 40
const PANEL_WIDTH = (WIDTH - NAME_WIDTH - 2 * PANEL_GAP) / 2
/** Space for the figure after the longest bar. */
const FIGURE_WIDTH = 60
const BAR_HEIGHT = 14
const ROW_HEIGHT = 22
const HEAD_HEIGHT = 96

const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 }
.caption { fill: #59636e }
.ours { fill: #0969da }
.other { fill: #818b98 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .caption { fill: #9198a1 }
  .ours { fill: #4493f8 }
}`

/** The document. Names are escaped; figures are drawn from 0. */
export function formatChart(bars: readonly ChartBar[], { title, caption }: ChartTitle): string {
  const height = HEAD_HEIGHT + bars.length * ROW_HEIGHT + 12
  const panels = [
    drawPanel(bars, {
      left: NAME_WIDTH,
      head: 'MB/s (more is better)',
      digits: 0,
      figure: ({ megabytesPerSecond }) => megabytesPerSecond,
    }),
    drawPanel(bars, {
      left: NAME_WIDTH + PANEL_WIDTH + PANEL_GAP,
      head: 'processor s/GB (less is better)',
      digits: 2,
      figure: ({ cpuSecondsPerGigabyte }) => cpuSecondsPerGigabyte,
    }),
  ]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<text class="title" x="0" y="22">${escape(title)}</text>`,
    `<text class="caption" x="0" y="44">${escape(caption)}</text>`,
    ...bars.map(({ name }, i) => `<text x="0" y="${textAt(i)}">${escape(name)}</text>`),
    ...panels.flat(),
    '</svg>',
    '',
  ].join('\n')
}

interface Panel {
  left: number
  head: string
  digits: number
  figure: (bar: ChartBar) => number
}

function drawPanel(bars: readonly ChartBar[], { left, head, digits, figure }: Panel): string[] {
  const most = Math.max(...bars.map(figure), Number.MIN_VALUE)
  const drawn = bars.flatMap((bar, i) => {
    const width = (figure(bar) / most) * (PANEL_WIDTH - FIGURE_WIDTH)
    const kind = bar.name.startsWith('ours') ? 'ours' : 'other'
    const y = HEAD_HEIGHT + i * ROW_HEIGHT
    const box = `x="${left}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}"`
    return [
      `<rect class="${kind}" ${box} rx="2"/>`,
      `<text x="${(left + width + 6).toFixed(1)}" y="${textAt(i)}">` +
        `${figure(bar).toFixed(digits)}</text>`,
    ]
  })
  return [
    `<text class="caption" x="${left}" y="${HEAD_HEIGHT - 14}">${escape(head)}</text>`,
    ...drawn,
  ]
}

function textAt(row: number): number {
  return HEAD_HEIGHT + row * ROW_HEIGHT + BAR_HEIGHT - 2
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
