// The hidden names of the shared database, for the commands that change them.
import type { HiddenName } from '../catalog/store/hidden.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import {
  hideShared,
  isPublished,
  listSharedHidden,
  unhideShared,
} from '../postgres/shared-hidden.ts'
import type { SharedHiddenName } from '../postgres/shared-hidden.ts'
import { hiddenNameOf, sharedNameOf } from '../replication/follow.ts'

export function sharedHiddenNames(database: SharedDatabase) {
  return {
    hide: async (name: HiddenName): Promise<boolean> => hideShared(database, normalized(name)),
    unhide: async (name: HiddenName): Promise<boolean> => unhideShared(database, normalized(name)),
    isKnown: async (name: HiddenName): Promise<boolean> => isPublished(database, normalized(name)),
    list: async (): Promise<HiddenName[]> => (await listSharedHidden(database)).map(hiddenNameOf),
  }
}

function normalized(name: HiddenName): SharedHiddenName {
  const { streamer, date, sessionId } = sharedNameOf(name)
  return {
    streamer: streamer.normalize('NFC'),
    date: date.normalize('NFC'),
    sessionId: sessionId.normalize('NFC'),
  }
}
