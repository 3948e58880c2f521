// Named layouts: the naming schemes of known recorders. Each is a list of templates, tried in
// order.

/**
 * Templates over `{streamer}`, `{date}`, `{sessionId}` and `*`. For a template without
 * `{streamer}`, the name of the library's root folder is the streamer.
 */
export type LayoutPresets = Readonly<Record<string, readonly string[]>>

export const layoutPresets: LayoutPresets = {
  /** `Y-m-d H-M-S.mkv`, in one folder per streamer or in one folder for all. */
  obs: [
    '{streamer}/{date}',
    '{streamer}/{date} {sessionId}',
    '{streamer}/* {date}',
    '{date}',
    '{date} {sessionId}',
    '* {date}',
  ],
  /** `{author}/{category}/{id}-{time}` from its manual, and common shorter forms of `--output`. */
  streamlink: [
    '{streamer}/*/{sessionId}-{date}',
    '{streamer}/*/{date}',
    '{streamer}/{sessionId}-{date}',
    '{streamer}/{date}',
    '{streamer}/{date}_{sessionId}',
    '{streamer}/{streamer}_{date}',
    '{streamer}_{date}',
    '{streamer}-{date}',
  ],
  /**
   * `<name> - Y-m-d HMS - <title>` and `<name> - Y-m-d HMS`, flat or in one folder per streamer.
   */
  'streamlink-recorder': [
    '{streamer} - {date} - {sessionId}',
    '{streamer} - {date}',
    '*/{streamer} - {date} - {sessionId}',
    '*/{streamer} - {date}',
  ],
  /**
   * `<channel>/<date>-<id>-<type>-<uuid>/<id>-video.mp4`, or a folder `<id>-video_hls`. Ignores
   * chat videos.
   */
  ganymede: ['{streamer}/{date}-*/{sessionId}-video', '{streamer}/{date}-*/{sessionId}-video_hls'],
  /** `recordings/<path>/Y-m-d_H-M-S-micros.mp4`; the last part of the path is the streamer. */
  mediamtx: ['{streamer}/{date}', '*/{streamer}/{date}', '*/*/{streamer}/{date}'],
  /**
   * One folder per uploader. The title with its id is the session, a date in or before the title is
   * its date.
   */
  'yt-dlp': [
    '{streamer}/{date} - {sessionId}',
    '{streamer}/{date} {sessionId}',
    '{streamer}/{date}_{sessionId}',
    '{streamer}/* {date} [{sessionId}]',
    '{streamer}/{sessionId}',
    '{sessionId}',
  ],
  /**
   * `[app]/[stream].[timestamp].flv`, `[app]/[stream]/[2006]/[01]/[02]/[15].[04].[05].[999].flv`.
   */
  srs: ['{streamer}.{date}', '*/{streamer}.{date}', '*/{streamer}/*/*/*/{sessionId}'],
  /** `<platform>/<host>/[Y-m-d H-M-S][host][title].flv`. */
  bililive: ['*/{streamer}/[{date}][*][{sessionId}]', '{streamer}/[{date}][*][{sessionId}]'],
  /** `<room>-<name>/<label>-<room>-<date>-<time>-<ms>-<title>.flv`. */
  bililiverecorder: ['*-{streamer}/*-{date}-{sessionId}', '*-{streamer}/*-{date}'],
  /** `<platform>/<owner>/Y-m-d H-M-S-ms title`. */
  'bililive-tools': ['*/{streamer}/{date} {sessionId}', '*/{streamer}/{date}'],
  /**
   * `<platform>/<name>/<name>_[title_]Y-m-d_H-M-S[_<part>].ts`, with or without a folder per day.
   */
  douyin: [
    '*/{streamer}/*_{date}_{sessionId}',
    '*/{streamer}/*_{date}',
    '*/{streamer}/*/*_{date}_{sessionId}',
    '*/{streamer}/*/*_{date}',
  ],
  /**
   * `vods/<login>/<login>_<ISO date>_<id>/<the same>.mp4`. Ignores chat files and copies with
   * burned-in chat.
   */
  livestreamdvr: [
    'vods/{streamer}/{streamer}_{date}_{sessionId}/{streamer}_{date}_{sessionId}',
    '{streamer}/{streamer}_{date}_{sessionId}/{streamer}_{date}_{sessionId}',
    'vods/{streamer}/{streamer}_{date}_{sessionId}/{streamer}_{date}_{sessionId}_vod',
    '{streamer}/{streamer}_{date}_{sessionId}/{streamer}_{date}_{sessionId}_vod',
  ],
  /**
   * `<name>_<site>_<date>` in one folder per streamer, or flat if the names contain no underscore.
   */
  streamdvr: [
    '{streamer}/{streamer}_*_{date}',
    '{streamer}/{streamer}_{date}',
    '*/{streamer}/{streamer}_*_{date}',
    '*/{streamer}/{streamer}_{date}',
    '{streamer}_*_{date}',
    '{streamer}_{date}',
  ],
  /**
   * `<user>_<date and time>[_<part>].ts` in one folder (`videos` or another), or in one folder per
   * user.
   */
  flat: [
    '{streamer}_{date}',
    '{streamer}_{date}_{sessionId}',
    '{streamer}-{date}',
    '{streamer}/{streamer}_{date}',
    '{streamer}/{streamer}_{date}_{sessionId}',
    'videos/{streamer}_{date}',
    'videos/{streamer}_{date}_{sessionId}',
  ],
  /** `<user> [SITE]/<user>-<date>-<time>.mp4`; the site is not part of the streamer's name. */
  'site-folders': [
    '{streamer} [*]/{streamer}-{date}',
    '{streamer} [*]/{date}',
    '*/{streamer} [*]/{streamer}-{date}',
  ],
  /** `<user>/<date and time>/playlist.m3u8` with its segments. */
  'playlist-folders': ['{streamer}/{date}'],
}
