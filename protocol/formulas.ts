/**
 * Cells that a spreadsheet would take for a formula. Written with an apostrophe before them, and read without it; a
 * text that begins with apostrophes of its own gets one more, so that every text comes back as it was.
 *
 * Choice: an apostrophe, and not a TAB or a space. A TAB was itself what made a cell active, and a space is a character
 * of a reference.
 */

/** Apostrophes and blanks, then what makes a formula: its full-width forms and line ends too. */
const ACTIVE = /^'*[^\S\t\r\n]*[=+\-@\t\r\n＝＋－＠]/u;

export const withGuard = (text: string): string => (ACTIVE.test(text) ? `'${text}` : text);

export const withoutGuard = (text: string): string =>
  text.startsWith("'") && ACTIVE.test(text.slice(1)) ? text.slice(1) : text;
