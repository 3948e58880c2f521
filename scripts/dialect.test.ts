// Planted violations of the word list and of the line width.
import { describe, expect, it } from 'vitest'
import { findDialect, findDialectNames, findWideLines } from './dialect.ts'

function wordsIn(path: string, text: string): string[] {
  return findDialect({ path, text }).map((problem) => /"([^"]+)"/.exec(problem)?.[1] ?? '')
}

describe('findDialect', () => {
  it.each([
    ['the header tells the length', 'tells'],
    ['as the table says', 'says'],
    ['Asked again', 'Asked'],
    ['all clients who ask get it', 'who ask'],
    ['the caller knows it', 'knows'],
    ['with no word from the scanner', 'no word from'],
    ['the worker hears of it', 'hears of'],
    ['the box lies after the data', 'lies'],
    ['the file lay beside it', 'lay beside'],
    ['0 stands for unknown', 'stands'],
    ['the bytes behind the header', 'behind'],
    ['the header in front of it', 'in front'],
    ['read from front to back', 'front to back'],
    ['reads it anew', 'anew'],
    ['reads them in turns', 'in turns'],
    ['what is at hand', 'at hand'],
    ['it is kept', 'kept'],
    ['it is thrown away', 'thrown away'],
    ['it is forgotten', 'forgotten'],
    ['a thread that comes and goes', 'comes and goes'],
    ['the sound track', 'sound'],
    ['two pictures later', 'pictures'],
    ['another set-up', 'set-up'],
    ['a piece of the file', 'piece'],
    ['until the next cut', 'next cut'],
    ['it is cut there', 'is cut'],
    ['the file was cut off', 'cut off'],
    ['a segment after the break', 'the break'],
    ['a damaged file', 'damaged'],
    ['it spoils the time', 'spoils'],
    ['all texts', 'texts'],
    ['expects a text', 'a text'],
    ['an empty place', 'empty place'],
    ['places for ads', 'places for ads'],
    ['rings the bell', 'bell'],
    ['after a look', 'a look'],
    ['it is looked at', 'looked at'],
    ['it is let through', 'is let'],
    ['it is taken for a key', 'is taken for'],
    ['sends the answer', 'the answer'],
    ['it has grown, for a grown file', 'a grown'],
    ['a recording that still grows', 'recording that still grows'],
    ['the scan goes on', 'goes on'],
    ['the way of a request', 'the way of'],
    ['a side file', 'side file'],
    ['at the joint', 'the joint'],
    ['a stretch of time', 'a stretch'],
    ['what is dear', 'dear'],
    ['a key of ours', 'of ours'],
    ['304 to who has it', 'to who'],
    ['unchanged for so long', 'for so long'],
    ['after so many bytes', 'so many'],
    ['refused for good', 'for good'],
  ])('finds a word in: %s', (sentence, word) => {
    expect(wordsIn('server/a.ts', `const a = 1 // ${sentence}\n`)).toContain(word)
    expect(wordsIn('docs/a.md', `# A\n\n${sentence}\n`)).toContain(word)
  })

  it.each([
    'the picture parameter set and the picture order count',
    'an IDR picture, leading pictures, picture-in-picture',
    'a server behind a reverse proxy, and a cache in front of it',
    'the reader falls behind',
    'joint stereo',
    'stand-in, stand-alone, standalone, understand',
    'a text track, a text file, text/plain',
    'an ad break, a line break',
    'it answers 404',
    'cuts the time by half, and is cut short',
    'the file has grown',
    'it looks like a key frame, and a lookup',
    'disabled for good reasons',
    'if so many events arrive that some are dropped',
  ])('accepts: %s', (sentence) => {
    expect(wordsIn('server/a.ts', `// ${sentence}\n`)).toEqual([])
  })

  it('reports file, line and replacement', () => {
    expect(findDialect({ path: 'docs/a.md', text: '# A\n\nIt lies there.\n' })).toEqual([
      'docs/a.md:3: "lies": write is in, is at, is stored',
    ])
  })

  it('finds a phrase across two lines of a comment', () => {
    expect(wordsIn('server/a.ts', '// What is at\n// hand.\n')).toEqual(['at hand'])
    expect(wordsIn('server/a.ts', '/**\n * Reads it in\n * turns.\n */\n')).toEqual(['in turns'])
    expect(wordsIn('server/a.ts', '// What is at\nconst a = 1\n// hand.\n')).toEqual([])
  })

  it('finds words in messages and in the text of elements', () => {
    expect(wordsIn('server/a.ts', "fail('the file is damaged')\n")).toEqual(['damaged'])
    expect(wordsIn('server/a.ts', 'fail(`${file} is damaged`)\n')).toEqual(['damaged'])
    expect(wordsIn('web/a.tsx', 'const a = <p>It’s 🎉 no sound</p>\n')).toEqual(['sound'])
    expect(wordsIn('web/a.css', '/* The picture. */\n.picture { color: red; }\n')).toEqual([
      'picture',
    ])
  })

  it('ignores code, names of one word, and code in documents', () => {
    const code = "const told = x.sound / 2 + y // 1\nconst b = /sound lies/.test('told')\n"
    expect(wordsIn('server/a.ts', code)).toEqual([])
    expect(wordsIn('server/a.ts', '// Sets `sound`.\nfail(`${told} bytes`)\n')).toEqual([])
    const document = 'Set `sound`.\n\n```sh\ntell the sound\n```\n\n[a](docs/sound.md)\n'
    expect(wordsIn('docs/a.md', document)).toEqual([])
  })
})

describe('findDialectNames', () => {
  it('finds identifiers and file names', () => {
    expect(findDialectNames({ path: 'server/a.ts', text: 'const soundTrack = 1\n' })).toEqual([
      'server/a.ts:1: rename soundTrack',
    ])
    const text = '\nfunction isTold(lastPiece: number) {}\nconst UNTOLD_TICKS = tells\n'
    expect(findDialectNames({ path: 'server/a.ts', text })).toHaveLength(4)
    expect(findDialectNames({ path: 'server/sound-plan.ts', text: '' })).toEqual([
      'server/sound-plan.ts: rename the file',
    ])
  })

  it('ignores longer words, comments and strings', () => {
    const text = "const background = resounding // sound\nread('sound')\n"
    expect(findDialectNames({ path: 'server/a.ts', text })).toEqual([])
  })
})

describe('findWideLines', () => {
  const wide = `${'word '.repeat(20)}word`

  it('finds a line over 100 columns in code and in prose', () => {
    for (const path of ['server/a.ts', 'web/a.css', 'docs/a.md']) {
      expect(findWideLines({ path, text: `\n${wide}\n` })).toEqual([
        `${path}:2: 104 columns; at most 100`,
      ])
    }
    expect(findWideLines({ path: 'a.ts', text: 'x'.repeat(100) })).toEqual([])
  })

  it('accepts the content of template literals and the expected strings of tests', () => {
    expect(findWideLines({ path: 'a.ts', text: `  '${wide}',\n` })).toHaveLength(1)
    expect(findWideLines({ path: 'a.test.ts', text: `  '${wide}',\n` })).toEqual([])
    expect(findWideLines({ path: 'a.test.ts', text: `it('${wide}', () => {\n` })).toHaveLength(1)
    expect(findWideLines({ path: 'a.ts', text: `a(\`\n${wide}\n${wide}\`)\n` })).toEqual([])
    expect(findWideLines({ path: 'a.ts', text: `a(\`${wide}\`)\n` })).toHaveLength(1)
    expect(findWideLines({ path: 'a.ts', text: `a(\`\nb\n\`) // ${wide}\n` })).toHaveLength(1)
  })

  it('accepts tables, links and long addresses', () => {
    expect(findWideLines({ path: 'a.md', text: `| ${wide} |` })).toEqual([])
    expect(findWideLines({ path: 'a.md', text: `[a](b) ${wide}` })).toEqual([])
    const address = `https://example.com/${'x'.repeat(90)}`
    expect(findWideLines({ path: 'a.ts', text: `// ${address}` })).toEqual([])
  })
})
