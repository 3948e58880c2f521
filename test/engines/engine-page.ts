// The interface of the engine tests to a browser, with any driver.
/** One open page. Elements are selected by XPath, which every driver supports. */
export interface EnginePage {
  open(url: string): Promise<void>
  /** Evaluates an expression in the page and returns its value as JSON. */
  evaluate(expression: string): Promise<unknown>
  /** A click at the element's position on the screen. */
  click(xpath: string): Promise<void>
  /** Types into a field, key by key or at once. */
  type(xpath: string, text: string): Promise<void>
  /** The page is in the background meanwhile. Undefined where it never is, as without a screen. */
  hideWhile?(work: () => Promise<void>): Promise<void>
  /** Ends the browser. */
  close(): Promise<void>
}
