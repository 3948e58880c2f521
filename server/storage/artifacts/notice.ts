// A file at the root of the artifacts: it states what they are, and its write at the start shows
// that artifacts can be written.

export const NOTICE_NAME = 'README.txt'

export const NOTICE = `Artifacts of Aftercast: indexes and thumbnails, derived from recordings.
They may be deleted at any time, and are then computed again. Only grown-1, grown-2,
served-1 and audio-1 must stay, and need a backup: they have which bytes some URLs name.
Whoever can write here decides what all nodes serve.
`
