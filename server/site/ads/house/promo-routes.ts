// /api/promo/…: serves house ads: the choice for a zone, frames, videos, clicks and tracking
// events.
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { CountedEvent } from '../../../../shared/contract.ts'
import { AppError } from '../../../base/errors.ts'
import { chooseBanners, chooseVideo } from './choose-creatives.ts'
import type { ChoiceOptions } from './choose-creatives.ts'
import type { Creative } from './creatives.ts'
import { formatFrame, formatFramePolicy } from './format-frame.ts'
import { EMPTY_VAST, formatVast } from './format-vast.ts'
import { createPromoPaths, promoPatterns } from './promo-paths.ts'
import type { FormatPath } from './promo-paths.ts'
import type { HouseAds } from './read-creatives.ts'

/** Records an ad event. Never throws. */
export type RecordActivity = (event: CountedEvent) => void

export interface PromoRouteOptions {
  ads: HouseAds
  /** Configured zones; no others are filled or counted. */
  zones: readonly string[]
  record: RecordActivity
  now: () => Date
  random: () => number
  /** Other origins whose pages may embed the frames. */
  embedders: readonly string[]
  formatPath: FormatPath
  /** Lets requests for files wait until there is room. */
  admitFiles: (scope: FastifyInstance) => void
}

type AdEventName = Extract<CountedEvent, { zone: string }>['name']

const MAX_PLACES = 100
const zoneText = z.string().max(64)
const oneZone = z.object({ zone: zoneText })
const manyZones = z.object({
  zone: z.union([zoneText.transform((zone) => [zone]), z.array(zoneText).max(MAX_PLACES)]),
})
/** The event that each VAST beacon counts as. */
const eventNames = new Map<string, AdEventName>([
  ['impression', 'ad_impression'],
  ['start', 'ad_start'],
  ['firstQuartile', 'ad_first_quartile'],
  ['midpoint', 'ad_midpoint'],
  ['thirdQuartile', 'ad_third_quartile'],
  ['complete', 'ad_complete'],
  ['skip', 'ad_skip'],
])
const MEDIA_MAX_AGE_MS = 3_600_000

/** Registers the routes in a scope of their own. */
export async function addPromoRoutes(
  app: FastifyInstance,
  options: PromoRouteOptions,
): Promise<void> {
  await app.register(async (scope) => {
    // Never cached: every request chooses and counts.
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.header('cache-control', 'no-store')
    })
    addChoiceRoutes(scope, options)
    addFrameRoute(scope, options)
    addCountRoutes(scope, options)
    await scope.register(async (files) => addMediaRoute(files, options))
  })
}

function addChoiceRoutes(app: FastifyInstance, options: PromoRouteOptions): void {
  const { ads, zones } = options
  const paths = createPromoPaths(options.formatPath)

  app.get(promoPatterns.serve, async (request, reply) => {
    const wanted = parse(manyZones, request.query).zone
    const known = wanted.filter((zone) => zones.includes(zone))
    const chosen = chooseBanners(ads.creatives, known, chance(options)).values()
    const placements = wanted.map((zone) => {
      const banner = zones.includes(zone) ? chosen.next().value : undefined
      if (banner === undefined) return null
      return { frame: paths.frame({ creative: banner.id, zone }), alt: banner.alt }
    })
    return reply.send({ placements })
  })

  app.get(promoPatterns.vast, async (request, reply) => {
    const { zone } = parse(oneZone, request.query)
    const video = zones.includes(zone)
      ? chooseVideo(ads.creatives, zone, chance(options))
      : undefined
    return reply
      .type('application/xml; charset=utf-8')
      .send(video === undefined ? EMPTY_VAST : formatVast(video, { zone, paths }))
  })
}

function chance({ now, random }: PromoRouteOptions): ChoiceOptions {
  return { day: now().toISOString().slice(0, 10), random }
}

/** Fetching a frame counts as an impression. */
function addFrameRoute(app: FastifyInstance, options: PromoRouteOptions): void {
  const policy = formatFramePolicy(options.embedders)
  const paths = createPromoPaths(options.formatPath)

  app.get(promoPatterns.frame, async (request, reply) => {
    const { creative, zone } = findPlace(request, options)
    if (creative.kind === 'video') throw notFound()
    const shown: CountedEvent = { name: 'ad_impression', creative: creative.id, zone }
    count(request, shown, options.record)
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'x-robots-tag': 'noindex',
      })
      .send(formatFrame(creative, { zone, page: options.ads.pages.get(creative.id), paths }))
  })
}

function addCountRoutes(app: FastifyInstance, options: PromoRouteOptions): void {
  app.get(promoPatterns.click, async (request, reply) => {
    const { creative, zone } = findPlace(request, options)
    count(request, { name: 'ad_click', creative: creative.id, zone }, options.record)
    // The target comes from creatives.json, never from the request.
    const { link } = creative
    return reply.redirect(link.startsWith('/') ? options.formatPath(link) : link, 302)
  })

  app.get(promoPatterns.event, async (request, reply) => {
    const { event } = parse(z.object({ event: z.string() }), request.params)
    const name = eventNames.get(event)
    if (name === undefined) throw notFound()
    const { creative, zone } = findPlace(request, options)
    count(request, { name, creative: creative.id, zone }, options.record)
    return reply.code(204).send()
  })
}

async function addMediaRoute(app: FastifyInstance, options: PromoRouteOptions): Promise<void> {
  options.admitFiles(app)
  await app.register(fastifyStatic, { root: options.ads.folder, serve: false, dotfiles: 'deny' })

  app.get(promoPatterns.media, async (request, reply): Promise<FastifyReply> => {
    const creative = findCreative(request, options.ads)
    if (creative.kind === 'page') throw notFound()
    // Frames are sandboxed, so their origin is opaque.
    void reply.header('cross-origin-resource-policy', 'cross-origin')
    void reply.removeHeader('cache-control')
    return reply.sendFile(creative.file, { maxAge: MEDIA_MAX_AGE_MS })
  })
}

interface Place {
  creative: Creative
  zone: string
}

/** Counts a browser's request, unless it has Global Privacy Control or Do Not Track. */
function count({ method, headers }: FastifyRequest, event: CountedEvent, record: RecordActivity) {
  if (method !== 'GET' || headers['sec-gpc'] === '1' || headers.dnt === '1') return
  record(event)
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
  throw new AppError('invalid', 'the zone is malformed')
}
