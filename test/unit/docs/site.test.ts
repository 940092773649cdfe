import { brotliCompressSync, constants } from 'node:zlib';
import { posix } from 'node:path';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { createSearch } from '../../../docs/site/browser/search.ts';
import { buildSite } from '../../../docs/site/build.ts';
import { ERRORS } from '../../../protocol/errors.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import { EVENTS } from '../../../protocol/slugs.ts';
import { filesOf } from '../../support/tree.ts';

const site = await buildSite();
const { files, pages } = site;
const html = [...files].filter(([name]) => name.endsWith('.html'));
const indexText = [...files].find(([name]) => name.startsWith('search-'))![1];

const idsOf = (text: string): Set<string> => new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!));

test('ecosystem X38, X39, X40 every operation, error code and event has its page, and there is none of anything else', (t) => {
  const of = (part: string) =>
    pages
      .filter((page) => page.part === part && page.path !== `${part}/index`)
      .map(({ path }) => path.slice(part.length + 1))
      .toSorted();
  t.deepEqual(of('api'), ROUTE_LIST.map(({ operationId }) => operationId).toSorted());
  t.deepEqual(of('errors'), Object.keys(ERRORS).toSorted());
  t.deepEqual(of('events'), [...EVENTS].toSorted());
});

test('ecosystem X44 fault 37 every link and anchor of every page leads somewhere, and so does every link of a document', (t) => {
  t.deepEqual(site.dead, []);
  const ids = new Map(html.map(([name, text]) => [name, idsOf(text)]));
  const wrong: string[] = [];
  let links = 0;
  for (const [name, text] of html) {
    for (const [, target] of text.matchAll(/(?:href|src|data-index)="([^"]+)"/g)) {
      if (/^https?:/.test(target!)) continue;
      links += 1;
      const [path, anchor] = target!.split('#');
      const file = path === '' ? name : posix.normalize(posix.join(posix.dirname(name), path!));
      const isThere = files.has(file) && (anchor === undefined || ids.get(file)?.has(anchor) === true);
      if (!isThere) wrong.push(`${name}: ${target}`);
    }
  }
  t.true(links > 5_000);
  t.deepEqual([...new Set(wrong)], []);
});

test('ecosystem X37 fault 35 no page has a script or style of its own, or asks anything of another host', (t) => {
  for (const [name, text] of html) {
    t.notRegex(text, /<style|\sstyle=|\son[a-z]+=|javascript:/, name);
    for (const [, attributes, inner] of text.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)) {
      t.is(inner, '', name);
      t.notRegex(attributes!, /src="(?:https?:)?\/\//, name);
    }
    t.notRegex(text, /<(?:link|img|iframe|source|video|object)[^>]*="(?:https?:)?\/\//, name);
  }
  const style = [...files].find(([name]) => name.startsWith('style-'))![1];
  t.notRegex(style, /@import|url\(/);
});

test('ecosystem P27 a page has at most 60 kB, and the index 250 kB of brotli', (t) => {
  const large = html.filter(([, text]) => Buffer.byteLength(text) > 60_000).map(([name]) => name);
  t.deepEqual(large, []);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  t.true(brotliCompressSync(indexText, { params }).length < 250_000);
});

test('ecosystem X44 each page is there as Markdown too, and llms.txt names them all', (t) => {
  const list = files.get('llms.txt')!;
  const whole = files.get('llms-full.txt')!;
  for (const { path, markdown } of pages) {
    t.is(files.get(`${path}.md`), markdown);
    if (path !== 'index') t.true(list.includes(`(${path}.md)`), path);
    t.true(whole.includes(`<!-- ${path} -->`), path);
  }
});

test('ecosystem X37 every document of the repository is on the site, and no page has the path of another', (t) => {
  const texts = new Set(pages.map(({ markdown }) => markdown.trim().split('\n')[0]!));
  for (const { path, text } of filesOf(['docs'], '.md')) {
    if (path === 'docs/events.md') continue; // its pages are those of the events
    t.true(texts.has(text.trim().split('\n')[0]!), path);
  }
  t.is(new Set(pages.map(({ path }) => path.toLowerCase())).size, pages.length);
  for (const page of pages) t.true(page.title !== '' && page.summary !== '', page.path);
});

/** What the script of the index leaves behind. */
function loadedIndex(): string {
  const scope: { flockIndex?: string } = {};
  runInNewContext(indexText, scope);
  return scope.flockIndex!;
}

test('ecosystem X42 the search finds identifiers whole first, then their parts, and words that are not quite right', (t) => {
  const search = createSearch(loadedIndex());
  const first = (question: string) => search(question)[0]?.href;
  for (const event of EVENTS) t.is(first(event), `events/${event}.html`, event);
  for (const code of Object.keys(ERRORS)) t.is(first(code), `errors/${code}.html`, code);
  for (const { operationId } of ROUTE_LIST) t.is(first(operationId), `api/${operationId}.html`, operationId);
  t.true(search('rate limit').some(({ href }) => href === 'errors/RATE_LIMIT_EXCEEDED.html'));
  t.true(search('confirmed').some(({ href }) => href === 'events/deposit_confirmed.html'));
  t.true(search('EDGE_WEBHOOK_ALLOWLIST').some(({ href }) => href.startsWith('operate/configuration')));
  t.true(
    search('treasurry').some(({ title }) => /treasur/i.test(title)),
    'one letter too many',
  );
  t.deepEqual(search(''), []);
  t.deepEqual(search('///'), []);
});

test('ecosystem X70 the same sources give the same bytes', async (t) => {
  const { files: again } = await buildSite();
  t.deepEqual([...again.keys()], [...files.keys()]);
  t.true([...again].every(([name, text]) => files.get(name) === text));
});
