/** Documents of the repository as pages: markup, headings, and pieces for the search. */
import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import { escaped, highlighted } from './highlight.ts';
import { slugOf, type Heading, type Sought } from './page.ts';

/** Where a link of a document leads; null where it is none of the site's pages: its words stay, the link goes. */
export type Resolve = (target: string) => string | null;
/** The page of a code, an event or an operation that a document names in backticks. */
export type NameOf = (code: string) => string | null;

export interface Rendered {
  readonly body: string;
  readonly headings: readonly Heading[];
  readonly sought: readonly Sought[];
}

const LANGUAGES: Readonly<Record<string, string>> = {
  ts: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
  go: 'Go',
  sh: 'Shell',
  json: 'JSON',
  sql: 'SQL',
  yaml: 'YAML',
  html: 'HTML',
};

/** A block of code with its language and, by the script of the page, a button that copies it. */
export function codeBlock(code: string, language: string, title = LANGUAGES[language] ?? ''): string {
  const text = code.replace(/\n$/, '');
  const head = title === '' ? '' : `<figcaption>${escaped(title)}</figcaption>`;
  const name = title === '' ? 'Code' : `${title} code`;
  return `<figure class="code">${head}<pre tabindex="0" role="region" aria-label="${escaped(name)}"><code>${highlighted(text, language)}</code></pre></figure>`;
}

/** Blocks that say the same in several languages: one is shown at a time where scripts run. */
export const codeTabs = (blocks: readonly (readonly [language: string, title: string, code: string])[]): string =>
  `<div class="tabs">${blocks.map(([language, title, code]) => codeBlock(code, language, title)).join('')}</div>`;

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });

/** Block tokens of a document. */
export const tokensOf = (text: string): Token[] => markdown.parse(text, {});

const plain = (token: Token | undefined): string =>
  (token?.children ?? []).map(({ content, type }) => (type === 'softbreak' ? ' ' : content)).join('');

/** Text of a run of tokens, for the search. */
const wordsOf = (tokens: readonly Token[]): string =>
  tokens
    .filter(({ type }) => type === 'inline')
    .map(plain)
    .join(' ')
    .replace(/\s+/g, ' ');

/** First paragraph, without its markup. */
export function summaryOf(tokens: readonly Token[]): string {
  const at = tokens.findIndex(({ type }) => type === 'paragraph_open');
  const text = at < 0 ? '' : plain(tokens[at + 1]);
  const end = /[.:](?=\s|$)/.exec(text);
  return (end === null ? text : text.slice(0, end.index + 1)).replace(/:$/, '.').slice(0, 220);
}

/** Ids of headings: the same text twice gets a number behind it. */
export function headingsOf(tokens: readonly Token[]): Heading[] {
  const seen = new Map<string, number>();
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return [];
    const text = plain(tokens[at + 1]);
    const slug = slugOf(text);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return [{ level: Number(token.tag.slice(1)), id: count === 0 ? slug : `${slug}-${count}`, text }];
  });
}

/** Markup of tokens; `headings` are those among them, in their order. */
export function render(
  tokens: readonly Token[],
  headings: readonly Heading[],
  resolve: Resolve,
  nameOf: NameOf,
): Rendered {
  const left = [...headings];
  const rules = markdown.renderer.rules;
  rules.heading_open = (all, at) => {
    const { id } = left.shift()!;
    return `<${all[at]!.tag} id="${escaped(id)}">`;
  };
  rules.heading_close = (all, at) => `</${all[at]!.tag}>`;
  rules.fence = (all, at) => codeBlock(all[at]!.content, all[at]!.info.split(/\s/)[0] ?? '');
  rules.code_block = (all, at) => codeBlock(all[at]!.content, '');
  rules.table_open = () => '<div class="table" tabindex="0" role="region" aria-label="Table"><table>';
  rules.table_close = () => '</table></div>';
  // A head without words is no head.
  rules.th_open = (all, at) => (all[at + 1]?.content === '' ? '<td>' : '<th scope="col">');
  rules.th_close = (all, at) => (all[at - 1]?.content === '' ? '</td>' : '</th>');
  rules.code_inline = (all, at) => {
    const code = escaped(all[at]!.content);
    const inLink =
      all
        .slice(0, at)
        .reduce((deep, { type }) => deep + (type === 'link_open' ? 1 : type === 'link_close' ? -1 : 0), 0) > 0;
    const page = inLink ? null : nameOf(all[at]!.content);
    return page === null ? `<code>${code}</code>` : `<a href="${escaped(page)}"><code>${code}</code></a>`;
  };
  const gone: boolean[] = [];
  rules.link_open = (all, at) => {
    const target = String(all[at]!.attrGet('href'));
    const href = resolve(target);
    gone.push(href === null);
    return href === null ? '' : `<a href="${escaped(href)}">`;
  };
  rules.link_close = () => (gone.pop() === true ? '' : '</a>');
  return {
    body: markdown.renderer.render([...tokens], markdown.options, {}),
    headings,
    sought: soughtOf(tokens, headings),
  };
}

function soughtOf(tokens: readonly Token[], headings: readonly Heading[]): Sought[] {
  const starts = tokens.flatMap(({ type }, at) => (type === 'heading_open' ? [at] : []));
  return starts.map((start, at) => ({
    anchor: at === 0 && headings[at]!.level === 1 ? '' : headings[at]!.id,
    title: headings[at]!.text,
    text: wordsOf(tokens.slice(start + 3, starts[at + 1])),
  }));
}
