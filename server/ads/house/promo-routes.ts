// /api/promo/…: the house ads: which one for a zone, its frame, its film, and what came of it.
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ActivityEvent } from '../../../shared/contract.ts'
import { AppError } from '../../errors.ts'
import { chooseBanners, chooseVideo } from './choose-creatives.ts'
import type { ChoiceOptions } from './choose-creatives.ts'
import type { Creative } from './creatives.ts'
import { formatFrame, formatFramePolicy } from './format-frame.ts'
import { EMPTY_VAST, formatVast, TRACKED } from './format-vast.ts'
import { framePath, servePath, vastPath } from './promo-paths.ts'
import type { HouseAds } from './read-creatives.ts'

/** Takes what happened to an ad. Never throws. */
export type RecordActivity = (event: ActivityEvent) => void

export interface PromoRouteOptions {
  ads: HouseAds
  /** Zones of the configuration; no other is filled or counted. */
  zones: readonly string[]
  record: RecordActivity
  now: () => Date
  random: () => number
  /** Origins beside our own whose pages may show the frames. */
  embedders: readonly string[]
  /** Origin for the addresses in VAST; without it they are paths. */
  publicUrl: string | undefined
}

const MAX_PLACES = 100
const zoneText = z.string().max(64)
const oneZone = z.object({ zone: zoneText })
const manyZones = z.object({
  zone: z.union([zoneText.transform((zone) => [zone]), z.array(zoneText).max(MAX_PLACES)]),
})
const trackedEvent = z.enum(['impression', ...TRACKED])
const MEDIA_MAX_AGE_MS = 3_600_000

/** Registers the routes, in a context of their own. */
export async function addPromoRoutes(
  app: FastifyInstance,
  options: PromoRouteOptions,
): Promise<void> {
  await app.register(async (scope) => {
    // Ads and counts are of the moment.
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.header('cache-control', 'no-store')
    })
    addChoiceRoutes(scope, options)
    addFrameRoute(scope, options)
    addCountRoutes(scope, options)
    await addMediaRoute(scope, options)
  })
}

function addChoiceRoutes(app: FastifyInstance, options: PromoRouteOptions): void {
  const { ads, zones, publicUrl } = options

  app.get(servePath, async (request, reply) => {
    const wanted = parse(manyZones, request.query).zone
    const known = wanted.filter((zone) => zones.includes(zone))
    const chosen = chooseBanners(ads.creatives, known, chance(options)).values()
    const placements = wanted.map((zone) => {
      const banner = zones.includes(zone) ? chosen.next().value : undefined
      if (banner === undefined) return null
      return { frame: framePath({ creative: banner.id, zone }), alt: banner.alt }
    })
    return reply.send({ placements })
  })

  app.get(vastPath, async (request, reply) => {
    const { zone } = parse(oneZone, request.query)
    const video = zones.includes(zone)
      ? chooseVideo(ads.creatives, zone, chance(options))
      : undefined
    return reply
      .type('application/xml; charset=utf-8')
      .send(video === undefined ? EMPTY_VAST : formatVast(video, { zone, origin: publicUrl }))
  })
}

function chance({ now, random }: PromoRouteOptions): ChoiceOptions {
  return { day: now().toISOString().slice(0, 10), random }
}

/** A frame that is fetched is a banner that is shown. */
function addFrameRoute(app: FastifyInstance, options: PromoRouteOptions): void {
  const policy = formatFramePolicy(options.embedders)

  app.get('/api/promo/frame/:creative', async (request, reply) => {
    const place = findPlace(request, options)
    const { creative, zone } = place
    if (creative.kind === 'video') throw notFound()
    count('ad_impression', request, { ...options, ...place })
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'x-robots-tag': 'noindex',
      })
      .send(formatFrame(creative, { zone, page: options.ads.pages.get(creative.id) }))
  })
}

function addCountRoutes(app: FastifyInstance, options: PromoRouteOptions): void {
  app.get('/api/promo/click/:creative', async (request, reply) => {
    const place = findPlace(request, options)
    count('ad_click', request, { ...options, ...place })
    // The target stands in creatives.json; nothing of the request is in it.
    return reply.redirect(place.creative.link, 302)
  })

  app.get('/api/promo/event/:event/:creative', async (request, reply) => {
    const { event } = parse(z.object({ event: trackedEvent }), request.params)
    const name = event === 'impression' ? 'ad_impression' : 'ad_progress'
    count(name, request, { ...options, ...findPlace(request, options), event })
    return reply.code(204).send()
  })
}

async function addMediaRoute(app: FastifyInstance, options: PromoRouteOptions): Promise<void> {
  await app.register(fastifyStatic, { root: options.ads.folder, serve: false, dotfiles: 'deny' })

  app.get('/api/promo/media/:creative', async (request, reply): Promise<FastifyReply> => {
    const creative = findCreative(request, options.ads)
    if (creative.kind === 'page') throw notFound()
    // Frames are sandboxed, so their origin is nobody's.
    void reply.header('cross-origin-resource-policy', 'cross-origin')
    void reply.removeHeader('cache-control')
    return reply.sendFile(creative.file, { maxAge: MEDIA_MAX_AGE_MS })
  })
}

interface Place {
  creative: Creative
  zone: string
}

/** Counts what a visitor's browser asked for, and no one who wishes not to be counted (Global Privacy Control). */
function count(
  name: 'ad_impression' | 'ad_click' | 'ad_progress',
  { method, headers }: FastifyRequest,
  { record, creative, zone, event }: Place & { record: RecordActivity; event?: string },
): void {
  if (method !== 'GET' || headers['sec-gpc'] === '1') return
  const facts = { creative: creative.id, zone }
  if (name !== 'ad_progress') record({ name, ...facts })
  else record({ name, ...facts, event: parse(z.enum(TRACKED), event) })
}

function findPlace(request: FastifyRequest, { ads, zones }: PromoRouteOptions): Place {
  const { zone } = parse(oneZone, request.query)
  if (!zones.includes(zone)) throw notFound()
  return { creative: findCreative(request, ads), zone }
}

function findCreative({ params }: FastifyRequest, { creatives }: HouseAds): Creative {
  const { creative: id } = parse(z.object({ creative: z.string() }), params)
  const creative = creatives.find((candidate) => candidate.id === id)
  if (creative === undefined) throw notFound()
  return creative
}

function notFound(): AppError {
  return new AppError('not_found', 'there is no such ad')
}

function parse<Value>(shape: z.ZodType<Value>, input: unknown): Value {
  const parsed = shape.safeParse(input)
  if (parsed.success) return parsed.data
  throw new AppError('invalid', 'the zone or the event is malformed')
}
