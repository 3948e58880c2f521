import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { soon } from '../../../test/support/patience.ts'
import { AppError } from '../../base/errors.ts'
import { nameArtifact } from './artifact-store.ts'
import type { Artifact, ArtifactStore } from './artifact-store.ts'
import { FolderArtifacts } from './folder-artifacts.ts'
import { SharedArtifacts } from './shared-artifacts.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

const { signal } = new AbortController()
const NAME = nameArtifact('test-1', ['facts'], 'bin')
const OTHER = nameArtifact('test-1', ['other facts'], 'bin')

let folder: string
let warnings: string[]
let calls: string[]
let isDown: boolean

beforeEach(async () => {
  folder = makeTempFolder('shared')
  warnings = []
  calls = []
  isDown = false
})

/** The folder as a store that can be down, and that counts calls. */
function createStore(): ArtifactStore {
  const store = new FolderArtifacts(folder)
  const note = (call: string): void => {
    calls.push(call)
    if (isDown) throw new AppError('busy', 'the store is down')
  }
  return {
    async read(name, limit) {
      note('read')
      return store.read(name, limit)
    },
    async write(name, make, options) {
      note(`write ${options.existing}`)
      await store.write(name, make, options)
    },
    async readVersioned(name, limit) {
      note('read')
      return store.readVersioned(name, limit)
    },
    async replace(name, bytes, options) {
      note('replace')
      return store.replace(name, bytes, options)
    },
    close: () => store.close(),
  }
}

function createNode(store = createStore(), now = () => 0): SharedArtifacts {
  const log = { warn: (_details: object, message: string) => void warnings.push(message) }
  return new SharedArtifacts({ store, log, now })
}

async function readString(node: SharedArtifacts, name = NAME): Promise<string | undefined> {
  const bytes = await node.read(name, signal)
  return bytes && Buffer.from(bytes).toString()
}

function artifact(content: string): Artifact {
  return { sizeBytes: content.length, make: () => Buffer.from(content) }
}

async function share(node: SharedArtifacts, content: string, name = NAME): Promise<void> {
  node.share(name, artifact(content))
  await node.close()
}

describe('an artifact', () => {
  it('is read by every other node, and written once', async () => {
    expect(await readString(createNode())).toBeUndefined()
    await share(createNode(), 'content')
    await share(createNode(), 'of a second writer')
    expect(await readString(createNode())).toBe('content')
    expect(warnings).toEqual([])
  })

  it('is not written by a node that has read or written it', async () => {
    const node = createNode()
    node.share(NAME, artifact('content'))
    node.share(NAME, artifact('content'))
    await expect.poll(() => readString(createNode()), soon).toBe('content')
    await expect.poll(() => readString(node), soon).toBe('content')
    calls = []
    await share(node, 'content')
    expect(calls).toEqual([])
  })

  it('is not returned if it is corrupt, and then replaced', async () => {
    await share(createNode(), 'content')
    const sealed = await readFile(join(folder, NAME))
    sealed.writeUInt8(sealed.readUInt8(34) ^ 1, 34)
    await writeFile(join(folder, NAME), sealed)
    const node = createNode()
    expect(await readString(node)).toBeUndefined()
    expect(warnings).toEqual(['a shared artifact is corrupt; it will be replaced'])
    await share(node, 'content')
    expect(await readString(createNode())).toBe('content')
  })

  it('is not made by those that do not need it', async () => {
    await share(createNode(), 'content')
    const node = createNode()
    await readString(node)
    let made = 0
    node.share(NAME, { sizeBytes: 1, make: () => Buffer.alloc((made += 1)) })
    await node.close()
    expect(made).toBe(0)
  })
})

describe('an artifact that changes', () => {
  it('is replaced by those that know what is there', async () => {
    const [one, other] = [createNode(), createNode()]
    expect(await one.readVersioned(NAME)).toBeUndefined()
    const first = await one.replace(NAME, Buffer.from('first'), undefined)
    expect(await other.replace(NAME, Buffer.from('of the other'), undefined)).toBeUndefined()
    const known = await other.readVersioned(NAME)
    expect(known).toEqual({ bytes: Buffer.from('first'), version: first })
    const second = await other.replace(NAME, Buffer.from('second'), known?.version)
    expect(await one.replace(NAME, Buffer.from('late'), first)).toBeUndefined()
    expect(await one.readVersioned(NAME)).toEqual({ bytes: Buffer.from('second'), version: second })
  })

  it('is an error while the store is unavailable, or if it is corrupt', async () => {
    const version = await createNode().replace(NAME, Buffer.from('first'), undefined)
    isDown = true
    await expect(createNode().readVersioned(NAME)).rejects.toMatchObject({ code: 'busy' })
    const replacing = createNode().replace(NAME, Buffer.from('second'), version)
    await expect(replacing).rejects.toMatchObject({ code: 'busy' })
    isDown = false
    await writeFile(join(folder, NAME, version ?? ''), 'no digest')
    await expect(createNode().readVersioned(NAME)).rejects.toMatchObject({ code: 'failed' })
  })
})

describe('a claimed artifact', () => {
  it('is that of the first node for all of them', async () => {
    const claim = async (content: string): Promise<string> => {
      const claimed = await createNode().claim(NAME, () => Buffer.from(content), signal)
      return Buffer.from(claimed ?? []).toString()
    }
    expect(await claim('first')).toBe('first')
    expect(await claim('second')).toBe('first')
    await rm(join(folder, NAME))
    const all = await Promise.all(Array.from({ length: 10 }, async (_, node) => claim(`${node}`)))
    expect(new Set(all).size).toBe(1)
  })

  it('is undefined, and not replaced, once it is corrupt', async () => {
    const claim = async (node: SharedArtifacts) => node.claim(NAME, () => Buffer.from('x'), signal)
    await claim(createNode())
    await writeFile(join(folder, NAME), 'no digest')
    const node = createNode()
    expect(await readString(node)).toBeUndefined()
    expect(await claim(node)).toBeUndefined()
    expect(await readFile(join(folder, NAME), 'utf8')).toBe('no digest')
  })

  it('is undefined while the store is unavailable', async () => {
    isDown = true
    expect(await createNode().claim(NAME, () => Buffer.from('x'), signal)).toBeUndefined()
  })
})

describe('an unavailable store', () => {
  it('costs one failed call, and is reported once', async () => {
    isDown = true
    const node = createNode()
    for (let i = 0; i < 5; i += 1) expect(await readString(node)).toBeUndefined()
    expect(calls).toEqual(['read'])
    expect(warnings).toEqual(['shared artifacts cannot be read; retrying later'])
  })

  it('gets what was computed meanwhile, once it is available again', async () => {
    isDown = true
    const node = createNode(createStore(), () => performance.now())
    node.share(NAME, artifact('content'))
    node.share(OTHER, artifact('other content'))
    await expect.poll(() => warnings.length, soon).toBe(1)
    expect(await readdir(folder)).toEqual([])
    isDown = false
    await expect.poll(() => readString(createNode()), soon).toBe('content')
    await expect.poll(() => readString(createNode(), OTHER), soon).toBe('other content')
    await node.close()
  })

  it('that refuses one artifact gets the others, and is read', async () => {
    const store = createStore()
    const refusing: ArtifactStore = {
      ...store,
      write: async (name, make, options) => {
        if (name === NAME) throw new AppError('failed', 'too large')
        await store.write(name, make, options)
      },
    }
    // Its pauses are over at once.
    let nowMs = 0
    const node = createNode(refusing, () => (nowMs += 60_000))
    node.share(NAME, artifact('content'))
    node.share(OTHER, artifact('other content'))
    await expect.poll(() => readString(node, OTHER), soon).toBe('other content')
    // The first one is given up.
    await expect.poll(() => node.figures.waiting, soon).toBe(0)
    expect(warnings).toContain('an artifact was not shared')
    expect(node.figures).toMatchObject({ written: 1 })
    await node.close()
  })

  it('does not delay the end of the process', async () => {
    isDown = true
    const node = createNode()
    await share(node, 'content')
    expect(warnings.at(-1)).toBe('artifacts were not shared before the end')
  })
})

it('limits the memory of artifacts that wait to be written', async () => {
  isDown = true
  const node = createNode()
  const large = { sizeBytes: 24 * 1024 * 1024, make: () => Buffer.alloc(1) }
  for (const part of ['a', 'b', 'c']) node.share(nameArtifact('large', [part], 'bin'), large)
  expect(warnings).toContain('an artifact was not shared: too many wait to be written')
  await node.close()
})

it('rejects reads of abandoned requests with their reason', async () => {
  const abandoned = AbortSignal.abort(new Error('abandoned'))
  await expect(createNode().read(NAME, abandoned)).rejects.toThrow('abandoned')
})
