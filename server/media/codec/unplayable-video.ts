// Names of video codecs that no browser plays in HLS, by their names in containers.

interface UnplayableVideo {
  name: string
  mp4?: readonly string[]
  matroska?: readonly string[]
  /** Four-character codes of Video for Windows in Matroska. */
  vfw?: readonly string[]
  /** Stream types and registrations of MPEG-TS. */
  ts?: readonly (number | string)[]
  /** Codec ids of FLV, and the four-character codes of Enhanced RTMP. */
  flv?: readonly (number | string)[]
}

const UNPLAYABLE: readonly UnplayableVideo[] = [
  { name: 'MPEG-1', matroska: ['V_MPEG1'], ts: [0x01] },
  { name: 'MPEG-2', mp4: ['m2v1'], matroska: ['V_MPEG2'], ts: [0x02] },
  {
    name: 'MPEG-4 Visual',
    mp4: ['mp4v'],
    matroska: ['V_MPEG4/ISO/SP', 'V_MPEG4/ISO/ASP', 'V_MPEG4/ISO/AP'],
    vfw: ['XVID', 'DIVX', 'DX50', 'FMP4'],
    ts: [0x10],
    flv: [9],
  },
  { name: 'MS-MPEG-4', matroska: ['V_MPEG4/MS/V3'], vfw: ['DIV3'] },
  {
    name: 'Motion JPEG',
    mp4: ['jpeg', 'mjpa', 'mjpb'],
    matroska: ['V_MJPEG'],
    vfw: ['MJPG'],
    flv: [1],
  },
  { name: 'JPEG 2000', ts: [0x21] },
  { name: 'PNG', mp4: ['png '] },
  { name: 'H.263', mp4: ['s263', 'h263'], flv: [8] },
  { name: 'Sorenson H.263', flv: [2] },
  { name: 'Sorenson Video', mp4: ['SVQ1'] },
  { name: 'Sorenson Video 3', mp4: ['SVQ3'] },
  { name: 'Screen Video', flv: [3] },
  { name: 'Screen Video 2', flv: [6] },
  { name: 'QuickTime Animation', mp4: ['rle '] },
  { name: 'Cinepak', mp4: ['cvid'] },
  { name: 'uncompressed', mp4: ['raw ', '2vuy', 'v210'], matroska: ['V_UNCOMPRESSED'] },
  { name: 'DNxHD', mp4: ['AVdn'] },
  { name: 'DNxHR', mp4: ['AVdh'] },
  { name: 'CineForm', mp4: ['CFHD'] },
  { name: 'Apple ProRes', matroska: ['V_PRORES'] },
  { name: 'VP6', flv: [4] },
  { name: 'VP6 with alpha', flv: [5] },
  { name: 'VP8', matroska: ['V_VP8'], flv: ['vp08'] },
  { name: 'VP8 in MP4', mp4: ['vp08'] },
  { name: 'VVC', mp4: ['vvc1', 'vvi1'], matroska: ['V_MPEGI/ISO/VVC'], ts: [0x33], flv: ['vvc1'] },
  { name: 'Dolby Vision without a base layer', mp4: ['dvh1', 'dvhe'] },
  { name: 'AV1 in MPEG-TS', ts: ['AV01'] },
  { name: 'AVS', ts: [0x42] },
  { name: 'AVS2', matroska: ['V_AVS2'] },
  { name: 'AVS3', matroska: ['V_AVS3'] },
  { name: 'VC-1', vfw: ['WVC1', 'WMV3'], ts: [0xea] },
  { name: 'H.264 (Video for Windows)', vfw: ['H264', 'AVC1', 'X264'] },
  { name: 'encrypted H.264', ts: [0xdb] },
  { name: 'Theora', matroska: ['V_THEORA'] },
  { name: 'FFV1', matroska: ['V_FFV1'] },
  { name: 'Dirac', matroska: ['V_DIRAC'] },
]

/** Display names by the names in a container. */
export function unplayableVideoIn(
  container: Exclude<keyof UnplayableVideo, 'name'>,
): ReadonlyMap<string | number, string> {
  return new Map<string | number, string>(
    UNPLAYABLE.flatMap((row) => (row[container] ?? []).map((key) => [key, row.name] as const)),
  )
}
