// Limits of the first-party collector, which the page respects and the server enforces.

/** Longest list of one `view_item_list`; longer lists are split into several events. */
export const ITEMS_PER_EVENT = 200

/** Most events of one POST. */
export const EVENTS_PER_REQUEST = 200

/** Longest string of an event: a path of three names, each of 255 bytes, percent-encoded. */
export const MAX_EVENT_STRING_LENGTH = 4096

/** Largest body of one POST. */
export const ACTIVITY_BODY_BYTES = 64 * 1024
