// The first script of player pages and embedded players.
import { preloadVisited } from './player/visit/first-files.ts'

preloadVisited()
