// Media types of HLS resources (RFC 8216 4, 3.2, 3.3).

export const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl'
export const SEGMENT_TYPES = { ts: 'video/mp2t', fmp4: 'video/mp4' } as const
export const SUBTITLE_TYPE = 'text/vtt; charset=utf-8'
