// Draws the pre-rolls of the house ads frame by frame on a canvas; make-house-ads.ts runs it.
// @ts-check
;(() => {
  /** Coordinates below are for 640 by 360; the output is 1.5 times as large. */
  const SCALE = 1.5
  const WIDTH = 640
  const HEIGHT = 360
  const FONT = '"Inter", "Liberation Sans", "DejaVu Sans", sans-serif'

  /**
   * @typedef {object} Film
   * @property {string[]} sky colours from the top down
   * @property {string} sun
   * @property {string[]} hills colours from the back to the front
   * @property {string} title
   * @property {string} line
   * @property {string} call
   */

  const canvas = document.createElement('canvas')
  canvas.width = WIDTH * SCALE
  canvas.height = HEIGHT * SCALE
  const found = canvas.getContext('2d', { willReadFrequently: true })
  if (found === null) throw new Error('no canvas')
  const pen = found
  pen.scale(SCALE, SCALE)

  /**
   * The frame at `time` (0 to 1), as base64 of its RGBA bytes.
   *
   * @param {Film} film
   * @param {number} time
   */
  function drawPicture(film, time) {
    drawSky(film, time)
    film.hills.forEach((colour, depth) => drawHill(colour, depth, time))
    drawShade()
    drawWords(film, time)
    const { data } = pen.getImageData(0, 0, canvas.width, canvas.height)
    let text = ''
    for (let at = 0; at < data.length; at += 8192) {
      text += String.fromCharCode(...data.subarray(at, at + 8192))
    }
    return btoa(text)
  }

  /**
   * @param {Film} film
   * @param {number} time
   */
  function drawSky({ sky, sun }, time) {
    const gradient = pen.createLinearGradient(0, 0, 0, HEIGHT)
    sky.forEach((colour, at) => gradient.addColorStop(at / (sky.length - 1), colour))
    pen.fillStyle = gradient
    pen.fillRect(0, 0, WIDTH, HEIGHT)
    const [x, y] = [WIDTH * 0.74, HEIGHT * (0.66 - 0.2 * easeOut(time))]
    const glow = pen.createRadialGradient(x, y, 20, x, y, 230)
    glow.addColorStop(0, `${sun}aa`)
    glow.addColorStop(1, `${sun}00`)
    pen.fillStyle = glow
    pen.fillRect(0, 0, WIDTH, HEIGHT)
    pen.fillStyle = sun
    pen.beginPath()
    pen.arc(x, y, 46, 0, 2 * Math.PI)
    pen.fill()
  }

  /**
   * @param {string} colour
   * @param {number} depth
   * @param {number} time
   */
  function drawHill(colour, depth, time) {
    pen.fillStyle = colour
    pen.beginPath()
    pen.moveTo(0, HEIGHT)
    for (let x = 0; x <= WIDTH; x += 4) {
      const along = x / 90 / (1 + depth * 0.35) + depth * 2.1 + time * (0.4 + depth * 0.5)
      const rise = Math.sin(along) * 15 + Math.sin(along * 2.3 + depth) * 7
      pen.lineTo(x, HEIGHT * (0.68 + depth * 0.11) - rise)
    }
    pen.lineTo(WIDTH, HEIGHT)
    pen.fill()
  }

  /** The left side, with the text, is darker, so that it is readable on any sky. */
  function drawShade() {
    const shade = pen.createLinearGradient(0, 0, WIDTH * 0.75, 0)
    shade.addColorStop(0, 'rgb(8 5 10 / 0.62)')
    shade.addColorStop(1, 'rgb(8 5 10 / 0)')
    pen.fillStyle = shade
    pen.fillRect(0, 0, WIDTH, HEIGHT)
  }

  /**
   * @param {Film} film
   * @param {number} time
   */
  function drawWords({ title, line, call }, time) {
    drawLine(title, {
      font: `bold 40px ${FONT}`,
      y: 150,
      colour: '#fff7f0',
      shown: part(time, 0.03),
    })
    drawLine(line, { font: `19px ${FONT}`, y: 186, colour: '#f3ded2', shown: part(time, 0.16) })
    const shown = part(time, 0.34)
    pen.globalAlpha = shown
    pen.font = `bold 17px ${FONT}`
    const width = pen.measureText(call).width + 36
    pen.fillStyle = '#ff8d61'
    pen.beginPath()
    pen.roundRect(40, 216 + 10 * (1 - shown), width, 38, 19)
    pen.fill()
    pen.fillStyle = '#2b0e03'
    pen.fillText(call, 58, 241 + 10 * (1 - shown))
    pen.globalAlpha = 1
  }

  /**
   * @param {string} text
   * @param {{ font: string, y: number, colour: string, shown: number }} style
   */
  function drawLine(text, { font, y, colour, shown }) {
    pen.globalAlpha = shown
    pen.font = font
    pen.fillStyle = colour
    pen.fillText(text, 40, y + 14 * (1 - shown))
    pen.globalAlpha = 1
  }

  /**
   * Progress of an element that fades in at `start`.
   *
   * @param {number} time
   * @param {number} start
   */
  function part(time, start) {
    return easeOut(Math.min(1, Math.max(0, (time - start) / 0.12)))
  }

  /** @param {number} time */
  function easeOut(time) {
    return 1 - (1 - time) ** 3
  }

  Reflect.set(window, 'drawPicture', drawPicture)
})()
