// Parses creatives.json: house ads with their files, weights, dates and zones. Pure.
import { z } from 'zod'
import { describeIssue } from '../../../base/config/describe-issue.ts'
import { AppError, reasonOf } from '../../../base/errors.ts'

const MAX_CREATIVES = 500
const MAX_WEIGHT = 1000
/** A plain file name: no folder, not hidden. */
const plainName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,99}$/, 'must be a plain name of letters, digits, - _ .')
/** Without control characters, which no XML may contain: VAST has it as the title of the ad. */
const shortText = z
  .string()
  .transform((text) => text.replaceAll(/\p{Cc}+/gu, ' ').trim())
  .pipe(z.string().min(1).max(200))
const zoneName = z.string().min(1).max(64)

function fileOf(...endings: string[]) {
  return plainName.refine((name) => endings.some((ending) => name.endsWith(`.${ending}`)), {
    error: `must end in ${endings.map((ending) => `.${ending}`).join(', ')}`,
  })
}

/** Click target: a web URL or a path of this site, safe in a header. */
const link = z
  .string()
  .max(2048)
  .refine((value) => isSitePath(value) || isWebUrl(value), {
    error: 'must be an http or https URL, or a path of this site that starts with one /',
  })
  .transform((value) => (isSitePath(value) ? value : new URL(value).href))

const common = {
  id: plainName,
  /** Alternative text. */
  alt: shortText,
  link,
  /** Relative frequency within its zone. */
  weight: z.int().min(1).max(MAX_WEIGHT).default(1),
  /** First and last day (UTC) on which it is shown. */
  from: z.iso.date().optional(),
  until: z.iso.date().optional(),
  /** Zones it is for; by default every zone of its kind. */
  zones: z.array(zoneName).min(1).max(50).optional(),
}

const creative = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('page'), file: fileOf('html'), ...common }),
    z.strictObject({
      kind: z.literal('image'),
      file: fileOf('avif', 'webp', 'png', 'jpg', 'jpeg', 'gif', 'svg'),
      ...common,
    }),
    z.strictObject({
      kind: z.literal('video'),
      file: fileOf('mp4', 'webm'),
      ...common,
      durationSeconds: z.number().min(0.1).max(600),
      width: z.int().min(16).max(8192),
      height: z.int().min(16).max(8192),
    }),
  ],
  { error: ({ code }) => (code === 'invalid_union' ? 'must be page, image or video' : undefined) },
)

const creativesFile = z.strictObject({
  creatives: z
    .array(creative)
    .max(MAX_CREATIVES)
    .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, {
      error: 'two creatives have the same id',
    }),
})

/** One house ad: a banner (an HTML page or an image) or a pre-roll (a video). */
export type Creative = z.output<typeof creative>
export type VideoCreative = Extract<Creative, { kind: 'video' }>
export type BannerCreative = Exclude<Creative, VideoCreative>

/**
 * Parses creatives.json.
 *
 * @throws AppError `failed` that names every invalid entry
 */
export function parseCreatives(text: string): Creative[] {
  const parsed = creativesFile.safeParse(parseJson(text), { error: describeIssue })
  if (parsed.success) return parsed.data.creatives
  const lines = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  throw new AppError('failed', `creatives.json: ${lines.join('; ')}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('failed', `creatives.json is not JSON: ${reasonOf(cause)}`, { cause })
  }
}

function isWebUrl(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value)
}

/** `//host` and `/\\host` would be other hosts. */
function isSitePath(value: string): boolean {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(value)
}
