/** Texts of others (a node's words, a contract's reason) made fit to be stored and shown. */

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/g;

/**
 * One line without control characters, cut to a length. PostgreSQL takes neither U+0000 nor half of a surrogate pair: a
 * statement that holds one is refused whole, so an author of such a text could block the writer.
 */
export function plainText(text: string, charactersMax: number): string {
  return text
    .slice(0, 4 * charactersMax)
    .replace(CONTROL, ' ')
    .trim()
    .slice(0, charactersMax)
    .toWellFormed();
}
