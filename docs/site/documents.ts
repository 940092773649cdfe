/** The documents of the repository as pages. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { headingsOf, render, summaryOf, tokensOf, type NameOf } from './markdown.ts';
import { MADE_ELSEWHERE, PARTS } from './navigation.ts';
import { hrefFrom, type Heading, type Page } from './page.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Markup of one page; a longer document is one page for each of its chapters. P27. */
const MARKUP_BYTES_MAX = 44_000;
const NEWLINE = '\n';
/** The last level of headings at which a document is divided. */
const DEEPEST = 3;

type Tokens = ReturnType<typeof tokensOf>;

interface Document {
  readonly file: string;
  readonly part: string;
  readonly group: string;
  readonly text: string;
}

/** A page of a document before its links are known. */
interface Piece {
  readonly document: Document;
  readonly path: string;
  readonly title: string;
  readonly tokens: Tokens;
  readonly headings: readonly Heading[];
  readonly markdown: string;
}

const below = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => `${folder}/${name}`);

/** Every document with its place; one that several groups take is in the first. */
function documents(): Document[] {
  const taken = new Set<string>(MADE_ELSEWHERE);
  const found: Document[] = [];
  const named = new Set(PARTS.flatMap(({ groups }) => groups.flatMap((group) => group.documents)));
  for (const { id, groups } of PARTS) {
    for (const { title, documents: wanted } of groups) {
      const files = wanted.flatMap((place) => (place.endsWith('/*') ? below(place.slice(0, -2)) : [place]));
      for (const file of files) {
        const isElsewhere = taken.has(file) || (!wanted.includes(file) && named.has(file));
        if (isElsewhere || !existsSync(join(ROOT, file))) continue;
        taken.add(file);
        found.push({ file, part: id, group: title, text: readFileSync(join(ROOT, file), 'utf8') });
      }
    }
  }
  return found;
}

/** `docs/guides/quickstart-go.md` of the guides is `guides/quickstart-go`. */
function pathOf({ file, part }: Document): string {
  const name = basename(file, '.md').toLowerCase();
  if (name !== 'readme') return `${part}/${name}`;
  const folder = dirname(file);
  if (folder === '.') return `${part}/readme`;
  return folder.startsWith('clients/') ? `${part}/${folder.replace('/', '-')}` : `${part}/${basename(folder)}`;
}

const bytesOf = ({ tokens, headings }: Piece): number =>
  Buffer.byteLength(
    render(
      tokens,
      headings,
      () => '',
      () => null,
    ).body,
  );

/** Chapters of a document, or the whole of it where that is short enough. */
function piecesOf(document: Document): Piece[] {
  const tokens = tokensOf(document.text);
  const headings = headingsOf(tokens);
  const path = pathOf(document);
  const title = headings[0]?.text ?? path;
  const whole = { document, path, title, tokens, headings, markdown: document.text };
  if (bytesOf(whole) <= MARKUP_BYTES_MAX) return [whole];
  return chaptersOf(whole, 2);
}

/** A page of a document is divided at its headings of this level; a chapter that is too long at the next one. */
function chaptersOf(piece: Piece, level: number): Piece[] {
  const { tokens, headings, document, path, title } = piece;
  const starts = tokens.flatMap(({ type, tag }, at) => (type === 'heading_open' && tag === `h${level}` ? [at] : []));
  if (starts.length < 2) return level < DEEPEST ? chaptersOf(piece, level + 1) : cut(piece);
  const lines = document.text.split(NEWLINE);
  const pieces: Piece[] = [];
  let place = 0;
  const take = (from: number, to: number, name: string, where: string): void => {
    const part = tokens.slice(from, to);
    const count = part.filter(({ type }) => type === 'heading_open').length;
    const [first, last] = [part[0]!.map![0], part.findLast(({ map }) => map !== null)!.map![1]];
    const markdown = lines.slice(first, last).join(NEWLINE);
    pieces.push({
      document,
      path: where,
      title: name,
      tokens: part,
      headings: headings.slice(place, place + count),
      markdown,
    });
    place += count;
  };
  take(0, starts[0]!, title, path);
  for (const [at, start] of starts.entries()) {
    const { id, text } = headings[place]!;
    take(start, starts[at + 1] ?? tokens.length, text, `${path}/${id}`);
  }
  return pieces.flatMap((one) =>
    one.path === path || bytesOf(one) <= MARKUP_BYTES_MAX ? [one] : chaptersOf(one, level + 1),
  );
}

/** A chapter without headings of its own is cut between its entries. */
function cut(piece: Piece): Piece[] {
  const { tokens } = piece;
  const list = tokens.findIndex(({ type }) => type === 'bullet_list_open');
  const end = tokens.findLastIndex(({ type, level }) => type === 'bullet_list_close' && level === 0);
  if (list < 0 || bytesOf(piece) <= MARKUP_BYTES_MAX) return [piece];
  const starts = tokens.flatMap(({ type, level }, at) => (type === 'list_item_open' && level === 1 ? [at] : []));
  const parts = Math.ceil((bytesOf(piece) * 1.2) / MARKUP_BYTES_MAX);
  const each = Math.ceil(starts.length / parts);
  const lines = piece.document.text.split(NEWLINE);
  return Array.from({ length: parts }, (_, part) => {
    const [from, to] = [starts[part * each]!, starts[(part + 1) * each] ?? end];
    const items = [tokens[list]!, ...tokens.slice(from, to), tokens[end]!];
    const markdown = lines.slice(tokens[from]!.map![0], tokens[to - 1]!.map?.[1] ?? tokens[to]!.map?.[0]).join(NEWLINE);
    return part === 0
      ? { ...piece, tokens: [...tokens.slice(0, list), ...items], markdown }
      : {
          ...piece,
          tokens: items,
          headings: [],
          title: `${piece.title}, part ${part + 1}`,
          path: `${piece.path}-${part + 1}`,
          markdown,
        };
  });
}

/** A document that has become several pages begins with the list of them. */
const chapterList = (piece: Piece, pieces: readonly Piece[]): string => {
  const chapters = pieces.filter(({ document, path }) => document === piece.document && path !== piece.path);
  if (chapters.length === 0 || piece.path !== pathOf(piece.document)) return '';
  const rows = chapters.map(
    ({ path, title, headings }) =>
      `<li><a href="${hrefFrom(piece.path, `${path}.html`)}">${headings.length === 0 ? title : text(title)}</a></li>`,
  );
  return `<ul class="chapters">${rows.join('')}</ul>`;
};
const text = (words: string): string => words.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** What the pages of the catalogues stand in for: a link to `docs/events.md#deposit_confirmed` leads to its page. */
export type Elsewhere = (file: string, anchor: string) => { readonly path: string; readonly anchor: string } | null;

export interface FromDocuments {
  readonly pages: readonly Page[];
  /** Links of documents that lead to no page and no file. */
  readonly dead: readonly string[];
}

/** All documents as pages, their links among each other made whole. */
export function documentPages(elsewhere: Elsewhere, nameOf: (from: string) => NameOf): FromDocuments {
  const pieces = documents().flatMap(piecesOf);
  const places = new Map<string, string>();
  for (const { document, path, headings } of pieces.toReversed()) {
    places.set(document.file, path);
    for (const { id } of headings) places.set(`${document.file}#${id}`, path);
  }
  const dead: string[] = [];
  const pages = pieces.map((piece): Page => {
    const resolve = (target: string): string | null => {
      if (/^[a-z]+:/.test(target)) return target;
      const [place = '', anchor = ''] = target.split('#');
      const file = place === '' ? piece.document.file : normalize(join(dirname(piece.document.file), place));
      const made = elsewhere(file, anchor);
      if (made !== null) return hrefFrom(piece.path, `${made.path}.html`, made.anchor);
      const path = places.get(anchor === '' ? file : `${file}#${anchor}`);
      if (path !== undefined) return hrefFrom(piece.path, `${path}.html`, anchor);
      if (places.has(file) || !existsSync(join(ROOT, file))) dead.push(`${piece.document.file}: ${target}`);
      return null;
    };
    const { body, headings, sought } = render(piece.tokens, piece.headings, resolve, nameOf(piece.path));
    const begins =
      headings.length === 0
        ? `<h1>${text(piece.title)}</h1>${body}`
        : headings[0]!.level === 1
          ? body
          : body.replace(/^<h\d( id="[^"]*")>(.*?)<\/h\d>/s, '<h1$1>$2</h1>');
    return {
      path: piece.path,
      part: piece.document.part,
      group: piece.document.group,
      title: piece.title,
      summary: summaryOf(piece.tokens) || piece.title,
      body: begins + chapterList(piece, pieces),
      headings,
      markdown: piece.markdown,
      sought: sought.map((one, at) => (at === 0 ? { ...one, anchor: '' } : one)),
    };
  });
  return { pages, dead };
}
