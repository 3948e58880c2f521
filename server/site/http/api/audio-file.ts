// GET /api/audio/…/{file}: the audio of a session as one file, which a feed lists.
import { audioFilePath, outsidePatterns } from '../../../../shared/paths.ts'
import { readAudioFile } from '../../../stream/hls/session/audio-file.ts'
import type { AudioFiles } from '../../../stream/hls/session/audio-files.ts'
import type { ApiSources } from './api-sources.ts'
import type { SessionRow } from '../../../library/catalog/catalog.ts'
import { findPlayable } from './find-playable.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'

export function createAudioFileEndpoint(
  { catalog, sender, admission }: ApiSources,
  audioFiles: AudioFiles,
): Endpoint {
  return {
    path: outsidePatterns.audioFile,
    kind: 'audio',
    admission: admission.audioFiles,
    answer: async (call) => {
      const { request, signal } = call
      const name = parseName(request.params, 'file')
      const row = findPlayable(catalog, call)
      const { audio, session } = await audioFiles.open(row, name, signal)
      const { recording, file } = audio.source
      const checkUnchanged = async (): Promise<void> => recording.checkUnchanged(file)
      return {
        body: {
          kind: 'stream',
          sizeBytes: audio.sizeBytes,
          etag: `"${name}"`,
          send: async (reply, window) =>
            sender.sendRead(reply, (lease) => readAudioFile(audio, window, { lease, signal }), {
              sizeBytes: window.end - window.start,
              signal,
              checkUnchanged,
            }),
        },
        type: 'audio/mp4',
        cache: 'immutable',
        security: 'data',
        release: async () => session.close(),
      }
    },
  }
}

/** The path and size of a session's file. `later`: the session may have one soon. */
export function createFindEnclosure(audioFiles: AudioFiles) {
  return async (row: SessionRow) => {
    if (row.state.status === 'found' || row.settlesAtMs > Date.now()) return 'later'
    const found = await audioFiles.describe(row, NEVER)
    if (found === 'later' || found === undefined) return found
    return { path: audioFilePath(row, found.name), sizeBytes: found.sizeBytes }
  }
}

/** Requests share the text, so that none of them may end it. */
const NEVER = new AbortController().signal
