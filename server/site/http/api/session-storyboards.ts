// The storyboard of a session as it is now, and its sheets.
import type { Gate } from '../../../base/admission/gate.ts'
import type { Admission } from '../../../base/admission/limits.ts'
import type { SessionRow } from '../../../library/catalog/catalog.ts'
import { AppError } from '../../../base/errors.ts'
import type { OpenSession } from '../../../stream/hls/session/open-session.ts'
import type { SessionOpener } from '../../../stream/hls/session/session-opener.ts'
import { PlannedStoryboards } from '../../../decode/storyboards/planned-storyboards.ts'
import type { Storyboard } from '../../../decode/storyboards/planned-storyboards.ts'
import { findSheet } from '../../../decode/storyboards/sheets.ts'
import type { Sheet, SheetName } from '../../../decode/storyboards/sheets.ts'

export interface SessionStoryboardsOptions {
  sessions: SessionOpener
  admission: Pick<Admission, 'recordings'>
}

/** The recordings of a session; their key frames can be read. */
export interface ShownSession {
  parts: OpenSession['frames']
  isGrowing: boolean
}

export type ShownStoryboard = ShownSession & Storyboard

export type ShownSheet = ShownSession & { sheet: Sheet }

export class SessionStoryboards {
  readonly #sessions: SessionOpener
  readonly #gate: Gate
  readonly #planned = new PlannedStoryboards()

  constructor({ sessions, admission }: SessionStoryboardsOptions) {
    this.#sessions = sessions
    this.#gate = admission.recordings
  }

  /** @throws AppError `not_found` for a session without video; as `SessionOpener.open` */
  async find(row: SessionRow, signal: AbortSignal): Promise<ShownStoryboard> {
    const shown = await this.#show(signal, async () => this.#sessions.open(row))
    const storyboard = this.#planned.find(shown.parts)
    if (storyboard === undefined) throw new AppError('not_found', 'there is no storyboard')
    return { ...shown, ...storyboard }
  }

  /** Undefined if the storyboard has no such sheet. @throws AppError as `SessionOpener.open` */
  async findSheet(
    row: SessionRow,
    name: SheetName,
    signal: AbortSignal,
  ): Promise<ShownSheet | undefined> {
    const cached = await this.#show(signal, async () => this.#sessions.openListed(row))
    const sheet = this.#sheetOf(cached, name)
    if (sheet !== undefined || !cached.isGrowing) return sheet && { ...cached, sheet }
    // Another process may have listed it after it was recorded.
    const open = async (): Promise<OpenSession> => this.#sessions.openListed(row, 'current')
    const current = await this.#show(signal, open)
    const later = this.#sheetOf(current, name)
    return later && { ...current, sheet: later }
  }

  #sheetOf({ parts }: ShownSession, name: SheetName): Sheet | undefined {
    const storyboard = this.#planned.find(parts)
    return storyboard && findSheet(parts, storyboard, name)
  }

  async #show(signal: AbortSignal, open: () => Promise<OpenSession>): Promise<ShownSession> {
    return this.#gate.run(async () => {
      const session = await open()
      const { frames: parts, isGrowing } = session
      await session.close()
      return { parts, isGrowing }
    }, signal)
  }
}
