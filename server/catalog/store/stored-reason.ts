// The catalog stores the reason of an unplayable recording as JSON in the column `reason`. To
// rename or remove a code, add a migration that deletes its rows; the next walk adds them again.
import { unplayableReasonSchema } from '../../problem.ts'
import type { UnplayableReason } from '../../problem.ts'

export function formatStoredReason(reason: UnplayableReason): string {
  return JSON.stringify(reason)
}

export function parseStoredReason(stored: string): UnplayableReason {
  return unplayableReasonSchema.parse(JSON.parse(stored))
}
