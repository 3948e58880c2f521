// What the sidecars of sessions and streamers contain, at most two seconds old.
import { isAppError } from '../../base/errors.ts'
import { joinPath, splitPath } from '../../storage/recordings/library-path.ts'
import { signSidecars } from '../catalog/names/text-sidecars.ts'
import type { Storage } from '../../storage/recordings/storage.ts'
import type { Chapter } from './chapters.ts'
import type { ChatSettings } from './chat-settings.ts'
import { ChaptersVttParser } from './chapters-vtt.ts'
import { InfoJsonParser } from './info-json.ts'
import type { InfoJson } from './info-json.ts'
import { NfoParser } from './nfo.ts'
import { ParsedFiles } from './parsed-files.ts'
import type { ParsedFile, ParsedFilesOptions } from './parsed-files.ts'
import { RecentResults } from './recent-results.ts'
import { findFirstPart, sidecarBase, streamerFolder } from './sidecar-files.ts'
import type { SidecarSource } from './sidecar-files.ts'
import type { SidecarText } from './sidecar-parser.ts'
import { StreamerJsonParser } from './streamer-json.ts'
import type { StreamerJson, StreamerText } from './streamer-json.ts'

/** What the sidecars contain of a session. */
export interface SessionSidecars extends SidecarText, ChatSettings {
  /** In order of their starts. */
  chapters: readonly Chapter[]
}

export interface SidecarsOptions extends ParsedFilesOptions {
  storage: Storage
}

/** The sidecars of a session with one base. */
interface SessionFiles {
  info: ParsedFile<InfoJson> | undefined
  nfo: ParsedFile<SidecarText> | undefined
  vtt: ParsedFile<Chapter[]> | undefined
}

/** What lists show of a session. */
export interface SessionTitle {
  facts: SidecarText
  /** Signature of the files that were read (text-sidecars.ts). */
  sidecars: string
}

interface BaseFiles {
  /** The name without its ending. */
  base: string
  files: SessionFiles
}

export class Sidecars {
  readonly #storage: Storage
  readonly #infos: ParsedFiles<InfoJson>
  readonly #nfos: ParsedFiles<SidecarText>
  readonly #vtts: ParsedFiles<Chapter[]>
  readonly #streamerFiles: ParsedFiles<StreamerJson>
  readonly #sessions = new RecentResults<SessionSidecars>()
  readonly #streamers = new RecentResults<StreamerJson>()

  constructor(options: SidecarsOptions) {
    this.#storage = options.storage
    this.#infos = new ParsedFiles(options, () => new InfoJsonParser())
    this.#nfos = new ParsedFiles(options, () => new NfoParser())
    this.#vtts = new ParsedFiles(options, () => new ChaptersVttParser())
    this.#streamerFiles = new ParsedFiles(options, () => new StreamerJsonParser())
  }

  /**
   * What the sidecars of a session contain. A file that is not valid, too large or not readable
   * counts as absent.
   *
   * @throws AppError `busy` if too many files are read or storage is unavailable; the signal's
   *   reason
   */
  async session(source: SidecarSource, signal: AbortSignal): Promise<SessionSidecars> {
    return this.#sessions.find(source.path, signal, async (all) => this.#readSession(source, all))
  }

  /** What `streamer.json` in the folder of a streamer contains. @throws as `session` */
  async streamer(folder: string, signal: AbortSignal): Promise<StreamerText> {
    return (await this.#readStreamer(folder, signal)).text
  }

  /** What is set for the chat of a session, else for those of its streamer. @throws as `session` */
  async chat(
    source: SidecarSource & { streamer: string },
    signal: AbortSignal,
  ): Promise<ChatSettings> {
    const folder = streamerFolder(source)
    const [streamer, { chat, chatOffsetSeconds }] = await Promise.all([
      folder === undefined ? undefined : this.#readStreamer(folder, signal),
      this.session(source, signal),
    ])
    return {
      ...streamer?.chat,
      ...(chat !== undefined && { chat }),
      ...(chatOffsetSeconds !== undefined && { chatOffsetSeconds }),
    }
  }

  /**
   * What lists show of a session, from the files as they are now.
   *
   * @throws as `session`
   */
  async readTitle(source: SidecarSource, signal: AbortSignal): Promise<SessionTitle> {
    const found = await this.#readBases(source, signal)
    const facts = joinFiles(found.map(({ files }) => files))
    const versions = new Map(
      found.flatMap(({ base, files: { info, nfo } }): [string, string][] => [
        ...(info ? [[`${base}.info.json`, info.version] as [string, string]] : []),
        ...(nfo ? [[`${base}.nfo`, nfo.version] as [string, string]] : []),
      ]),
    )
    const bases = found.map(({ base }) => base)
    return { facts, sidecars: signSidecars(bases, versions) }
  }

  async #readStreamer(folder: string, signal: AbortSignal): Promise<StreamerJson> {
    return this.#streamers.find(folder, signal, async (all) => {
      const file = await this.#streamerFiles.find(joinPath(folder, 'streamer.json'), all)
      return file?.value ?? { text: {}, chat: {} }
    })
  }

  async #readSession(source: SidecarSource, signal: AbortSignal): Promise<SessionSidecars> {
    const found = await this.#readBases(source, signal)
    return joinFiles(found.map(({ files }) => files))
  }

  /** The files named like the recording or folder, then those of the first part of a folder. */
  async #readBases(source: SidecarSource, signal: AbortSignal): Promise<BaseFiles[]> {
    const own = sidecarBase(source)
    const part = source.kind === 'folder' ? await this.#firstPart(source.path) : undefined
    const paths = part === undefined ? [own] : [own, part]
    return Promise.all(
      paths.map(async (path) => ({
        base: splitPath(path)?.name ?? '',
        files: await this.#readFiles(path, signal),
      })),
    )
  }

  async #firstPart(path: string): Promise<string | undefined> {
    try {
      return await findFirstPart(this.#storage, path)
    } catch (error) {
      if (!isAppError(error, 'not_found', 'failed')) throw error
      return undefined
    }
  }

  async #readFiles(base: string, signal: AbortSignal): Promise<SessionFiles> {
    const [info, nfo, vtt] = await Promise.all([
      this.#infos.find(`${base}.info.json`, signal),
      this.#nfos.find(`${base}.nfo`, signal),
      this.#vtts.find(`${base}.chapters.vtt`, signal),
    ])
    return { info, nfo, vtt }
  }
}

/**
 * Text from `.info.json`, else `.nfo`; chapters from `.chapters.vtt`, else `.info.json`. Of each
 * kind, the first valid file counts.
 */
function joinFiles(found: readonly SessionFiles[]): SessionSidecars {
  const info = found.map((files) => files.info?.value).find((value) => value !== undefined)
  const nfo = found.map((files) => files.nfo?.value).find((value) => value !== undefined)
  const vtt = found.map((files) => files.vtt?.value).find((value) => value !== undefined) ?? []
  const chapters = vtt.length > 0 ? vtt : (info?.chapters ?? [])
  return { ...nfo, ...info, chapters }
}
