// The figures that the sizing is computed from: what was measured, and what is assumed.

/** Measured on one CPU of an Intel Xeon at 2.50 GHz: docs/performance.md and docs/cluster.md. */
export const measured = {
  /** Of a node, per gigabyte of segments from an object store, cold, unencrypted. */
  storeCpuSecondsPerGigabyte: 2.43,
  /** Of the same from a file system in memory. */
  fileCpuSecondsPerGigabyte: 0.17,
  /** Of encryption, in addition. */
  cipherCpuSecondsPerGigabyte: 1.45,
  /** Of a list or the configuration; assumed for keys, playlists, events and images, too. */
  smallCpuSeconds: 50e-6,
  /** Of a page, which is compressed for each request. */
  pageCpuSeconds: 0.9e-3,
  /** Rows of counters that PostgreSQL merges. */
  counterRowsPerSecond: 38_000,
} as const

/** A node of the tables: eight of these CPUs, ten gigabits per second. */
export const node = { cpus: 8, bytesPerSecond: 1.25e9 } as const

/** What a visitor requests besides segments, once per session that is watched. */
export const visit = {
  pages: 1,
  /** The configuration, and the lists of streamers and sessions. */
  revalidated: 3,
  /** Never cached. */
  keys: 1,
  /** Requests with activity events, which have up to ten rows of counters. */
  activityPosts: 2,
  counterRows: 5,
} as const

/** Sessions that are watched while they are recorded. Their playlists are cached for 2 s. */
export const live = {
  /** Of the viewers. */
  share: 0.1,
  sessions: 1000,
  zipfExponent: 1,
  reloadSeconds: 12,
  maxAgeSeconds: 2,
  /** Places of the CDN that request them. */
  places: 50,
} as const

/** A session of two hours, of which twenty minutes are watched on average. */
export const audience = {
  sessions: 1_000_000,
  sessionSeconds: 7200,
  watchedSeconds: 1200,
  segmentSeconds: 6,
  /** At 6 Mbit/s. */
  segmentBytes: 4.5e6,
} as const

/** Statements per second of a node that follows, and rows of a merge of counters at most. */
export const replication = { statementsPerSecond: 1.2 } as const
