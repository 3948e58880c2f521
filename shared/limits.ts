// Bounds that page and server both keep to; apart from the contract, so that the page can import them.

/** Longest list that one `view_item_list` carries; longer lists come in several. */
export const ITEMS_PER_EVENT = 200

/** Most events of one POST to the first-party collector. */
export const EVENTS_PER_REQUEST = 200

/** Longest body of one POST to the first-party collector, in bytes. */
export const ACTIVITY_BODY_BYTES = 64 * 1024
