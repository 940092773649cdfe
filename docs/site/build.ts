/**
 * Builds the documentation: pages of `docs/` and of the catalogues, one style, two scripts, the index of the search.
 * `npm run docs:build` writes them to docs/site/public; developer mode keeps them in memory. X37.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import MiniSearch from 'minisearch';
import { contractNow } from '../../clients/generate/contract.ts';
import { describeApi } from '../../gateway/pages/openapi.ts';
import { readRecordings } from '../../gateway/pages/recordings.ts';
import { ERRORS } from '../../protocol/errors.ts';
import { ROUTES } from '../../protocol/routes.ts';
import { EVENTS } from '../../protocol/slugs.ts';
import { VERSION } from '../../protocol/version.ts';
import { documentPages } from './documents.ts';
import { errorNotes } from './error-notes.ts';
import { errorPages } from './errors.ts';
import { eventPages } from './events.ts';
import { homePage, partPage } from './home.ts';
import { shell, type Assets, type PartOfSite, type Site } from './layout.ts';
import { PARTS } from './navigation.ts';
import { operationPages } from './operations.ts';
import { hrefFrom, type Page } from './page.ts';
import { indexedWords, SEARCH_FIELDS, STORED_FIELDS } from './words.ts';

/** Files by their names below /docs/, as text. */
export type SiteFiles = ReadonlyMap<string, string>;

const HERE = fileURLToPath(new URL('.', import.meta.url));
export const PUBLIC_FOLDER = join(HERE, 'public');
/** Where the examples say that a cloud is. */
const ORIGIN = 'https://cloud.example.com';

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5eff"/>' +
  '<path d="M6 20c3-5 6-5 8-1 2-4 5-4 8 1M13 12c2-3 4-3 5.5-.5 1.5-2.5 3.5-2.5 5.5.5" fill="none" ' +
  'stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>';

export interface BuiltSite {
  readonly files: SiteFiles;
  readonly pages: readonly Page[];
  /** Links of documents that lead nowhere. */
  readonly dead: readonly string[];
}

/** The page of a name in backticks. */
const nameOf =
  (from: string) =>
  (code: string): string | null => {
    const path = Object.hasOwn(ERRORS, code)
      ? `errors/${code}`
      : (EVENTS as readonly string[]).includes(code)
        ? `events/${code}`
        : Object.hasOwn(ROUTES, code)
          ? `api/${code}`
          : null;
    return path === null || path === from ? null : hrefFrom(from, `${path}.html`);
  };

const elsewhere = (file: string, anchor: string): { path: string; anchor: string } | null => {
  if (file !== 'docs/events.md') return null;
  return { path: anchor === '' ? 'events/index' : `events/${anchor}`, anchor: '' };
};

/** Every page in the order of the site. */
function pagesOf(): { pages: Page[]; dead: readonly string[] } {
  const recordings = readRecordings();
  const operations = operationPages({ api: describeApi(ORIGIN), contract: contractNow(), recordings });
  const events = eventPages();
  const errors = errorPages(recordings, errorNotes, nameOf);
  const { pages: documents, dead } = documentPages(elsewhere, nameOf);
  const of = (part: string): Page[] => documents.filter((page) => page.part === part);
  const pages = [
    homePage(),
    ...of('guides'),
    partPage(
      'api',
      'API reference',
      'Every operation of the cloud and of your edge: the same paths, one envelope.',
      operations,
    ),
    ...operations,
    partPage('events', 'Events', 'What is posted to your receiver, and what to do with each.', events),
    ...events,
    partPage('errors', 'Errors', 'Every refusal has a stable code. Branch on it; the message is for people.', errors),
    ...errors,
    ...PARTS.filter(({ id }) => id !== 'guides').flatMap(({ id }) => of(id)),
  ];
  return { pages, dead };
}

function partsOf(pages: readonly Page[]): PartOfSite[] {
  const titles: Readonly<Record<string, string>> = {
    api: 'API',
    events: 'Events',
    errors: 'Errors',
    ...Object.fromEntries(PARTS.map(({ id, title }) => [id, title])),
  };
  return ['guides', 'api', 'events', 'errors', 'operate', 'runbooks', 'inside'].flatMap((id) => {
    const first = pages.find(({ part }) => part === id);
    return first === undefined ? [] : [{ id, title: titles[id]!, path: first.path }];
  });
}

/** The index, as a script that leaves its text where the search finds it. */
function indexOf(pages: readonly Page[], parts: readonly PartOfSite[]): string {
  const index = new MiniSearch({ fields: SEARCH_FIELDS, storeFields: STORED_FIELDS, tokenize: indexedWords });
  const titles = new Map(parts.map(({ id, title }) => [id, title]));
  let id = 0;
  for (const page of pages) {
    for (const { anchor, title, text } of page.sought) {
      index.add({
        id: (id += 1),
        title,
        page: page.title,
        text: text.slice(0, SOUGHT_CHARS_MAX),
        href: `${page.path}.html${anchor === '' ? '' : `#${anchor}`}`,
        part: titles.get(page.part) ?? '',
      });
    }
  }
  return `globalThis.flockIndex=${JSON.stringify(JSON.stringify(index)).replaceAll('<', '\\u003c')};\n`;
}
/** Of one piece of a page; what is further below has a heading of its own. */
const SOUGHT_CHARS_MAX = 2_000;

const named = (name: string, text: string): string => {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return name.replace('.', `-${hash}.`);
};

async function scripts(): Promise<readonly [theme: string, start: string]> {
  const { outputFiles } = await build({
    absWorkingDir: HERE,
    entryPoints: ['browser/theme.ts', 'browser/start.ts'],
    outdir: 'out',
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    target: ['chrome120', 'firefox121', 'safari17'],
    legalComments: 'none',
    logLevel: 'silent',
  });
  const of = (name: string): string => outputFiles.find(({ path }) => path.endsWith(name))!.text;
  return [of('theme.js'), of('start.js')];
}

/** For readers that are programs: https://llmstxt.org. */
function listForPrograms(pages: readonly Page[], parts: readonly PartOfSite[]): string {
  const sections = parts.map(({ id, title }) => {
    const own = pages.filter(({ part }) => part === id);
    return `## ${title}\n\n${own.map((page) => `- [${page.title}](${page.path}.md): ${page.summary}`).join('\n')}\n`;
  });
  return `# Flock\n\n> Non-custodial wallet infrastructure: the cloud holds public keys only, the edge in your own network holds the phrase.\n\n${sections.join('\n')}`;
}

/** The whole site. The same sources give the same bytes. */
export async function buildSite(): Promise<BuiltSite> {
  const [theme, start] = await scripts();
  const style = readFileSync(join(HERE, 'style.css'), 'utf8');
  const { pages, dead } = pagesOf();
  const parts = partsOf(pages);
  const index = indexOf(pages, parts);
  const assets: Assets = {
    style: named('style.css', style),
    theme: named('theme.js', theme),
    script: named('docs.js', start),
    icon: named('icon.svg', ICON),
    index: named('search.js', index),
    version: VERSION,
  };
  const site: Site = { parts, pages, assets };
  const files = new Map<string, string>([
    [assets.style, style],
    [assets.theme, theme],
    [assets.script, start],
    [assets.icon, ICON],
    [assets.index, index],
    ['llms.txt', listForPrograms(pages, parts)],
    ['llms-full.txt', pages.map(({ path, markdown }) => `<!-- ${path} -->\n\n${markdown}`).join('\n')],
  ]);
  for (const page of pages) {
    files.set(`${page.path}.html`, shell(site, page));
    files.set(`${page.path}.md`, page.markdown);
  }
  return { files, pages, dead };
}

if (import.meta.main) {
  const { files, pages, dead } = await buildSite();
  if (dead.length > 0) throw new Error(`links that lead nowhere:\n${dead.join('\n')}`);
  rmSync(PUBLIC_FOLDER, { recursive: true, force: true });
  for (const [name, text] of files) {
    const file = join(PUBLIC_FOLDER, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  process.stdout.write(`docs/site/public: ${pages.length} pages, ${files.size} files\n`);
}
