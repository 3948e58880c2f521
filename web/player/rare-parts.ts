// What few visits to the player page need, as one chunk: with one more, the bundler would split
// that of the page.
export { ChatPanel } from './chat/chat-panel.tsx'
export { UnavailableSession } from './other-sessions/unavailable-session.tsx'
