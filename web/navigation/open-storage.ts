// What is remembered in this browser.

/** The getter itself throws if storage is off. */
export function openStorage(): Storage {
  return localStorage
}
