// What the tests of the three engines need of a browser, however it is driven.
/** One open page. Elements are named by XPath, which every driver understands alike. */
export interface EnginePage {
  open(url: string): Promise<void>
  /** Evaluates an expression in the page and answers its value as JSON. */
  evaluate(expression: string): Promise<unknown>
  /** A click as a visitor makes it: at the element's place on the screen. */
  click(xpath: string): Promise<void>
  /** Writes into a field, key by key or at once. */
  type(xpath: string, text: string): Promise<void>
  /** Ends the browser. */
  close(): Promise<void>
}
