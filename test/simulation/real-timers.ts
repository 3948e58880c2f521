// The timers of the process, also while a world is attached.
import { setTimeout as sleep } from 'node:timers/promises'

export const realTimers = { sleep, setImmediate }
