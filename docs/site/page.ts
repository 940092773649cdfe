/** What a page of the site is, before and after its links are known. */

export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** A page whose links are still places of the repository or ids of the catalogues. */
export interface Page {
  /** Its place on the site without `.html`: `guides/quickstart-go`. */
  readonly path: string;
  readonly part: string;
  readonly group: string;
  readonly title: string;
  /** One sentence, for search, `llms.txt` and the head of the page. */
  readonly summary: string;
  /** Markup of its text. */
  readonly body: string;
  readonly headings: readonly Heading[];
  /** The page as Markdown. */
  readonly markdown: string;
  /** Pieces that the search finds. */
  readonly sought: readonly Sought[];
  /** A short mark before its name in lists: a method, a status. */
  readonly mark?: string;
  /** Code is beside the words where there is room. */
  readonly wide?: true;
}

/** A piece of a page as the search has it. */
export interface Sought {
  readonly anchor: string;
  readonly title: string;
  readonly text: string;
}

/** Ids of headings as GitHub makes them, so that links of the repository hold here too. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** A relative address from one page to another, so that the site also works from a folder. */
export function hrefFrom(from: string, to: string, anchor = ''): string {
  const up = '../'.repeat(from.split('/').length - 1);
  return `${up}${to}${anchor === '' ? '' : `#${anchor}`}`;
}
