/** The whole of a page around its text. */
import { escaped } from './highlight.ts';
import { hrefFrom, type Page } from './page.ts';

export interface PartOfSite {
  readonly id: string;
  readonly title: string;
  /** Its first page. */
  readonly path: string;
}

/** Names of the files that every page loads. */
export interface Assets {
  readonly style: string;
  readonly theme: string;
  readonly script: string;
  readonly icon: string;
  readonly index: string;
  readonly version: string;
}

export interface Site {
  readonly parts: readonly PartOfSite[];
  readonly pages: readonly Page[];
  readonly assets: Assets;
}

/** Bars of a page narrower than this hold nothing. */
const LEVELS = new Set([2, 3]);

const link = (from: string, path: string, words: string, more = ''): string =>
  `<a href="${hrefFrom(from, `${path}.html`)}"${more}>${words}</a>`;

/** Pages of the same part by their groups; of a long part only the group that is looked at is open. */
function side(site: Site, page: Page): string {
  const own = site.pages.filter(({ part }) => part === page.part);
  const groups = [...Map.groupBy(own, ({ group }) => group)];
  const isLong = own.length > 60;
  const row = (one: Page): string => {
    const isChapter = one.path.split('/').length > 2;
    const isNear =
      page.path === one.path.split('/').slice(0, 2).join('/') ||
      one.path.split('/').slice(0, 2).join('/') === page.path.split('/').slice(0, 2).join('/');
    if (isChapter && !isNear) return '';
    const current = one.path === page.path ? ' aria-current="page"' : '';
    const mark =
      one.mark === undefined
        ? ''
        : `<span class="mark m-${escaped(one.mark.toLowerCase())}">${escaped(one.mark)}</span>`;
    return `<li${isChapter ? ' class="chapter"' : ''}>${link(page.path, one.path, `${mark}<span>${escaped(one.title)}</span>`, current)}</li>`;
  };
  return groups
    .map(([group, pages]) => {
      if (isLong && group !== page.group && group !== '')
        return `<p class="closed">${link(page.path, pages[0]!.path, escaped(group))}</p>`;
      const head = group === '' || groups.length === 1 ? '' : `<p class="head">${escaped(group)}</p>`;
      return `${head}<ul>${pages.map(row).join('')}</ul>`;
    })
    .join('');
}

function contents({ headings, wide }: Page): string {
  const shown = headings.filter(({ level }) => LEVELS.has(level));
  if (shown.length < 2 || wide === true) return '';
  const rows = shown.map(
    ({ level, id, text }) => `<li class="l${level}"><a href="#${escaped(id)}">${escaped(text)}</a></li>`,
  );
  return `<nav class="toc" aria-label="On this page"><p>On this page</p><ul>${rows.join('')}</ul></nav>`;
}

function neighbours(site: Site, page: Page): string {
  const own = site.pages.filter(({ part }) => part === page.part);
  const at = own.indexOf(page);
  const [before, next] = [own[at - 1], own[at + 1]];
  if (page.part === '' || (before === undefined && next === undefined)) return '';
  const one = (there: Page | undefined, name: string): string =>
    there === undefined
      ? '<span></span>'
      : link(page.path, there.path, `<small>${name}</small>${escaped(there.title)}`);
  return `<nav class="neighbours" aria-label="Pages beside this one">${one(before, 'Before')}${one(next, 'Next')}</nav>`;
}

/** Three birds, as the console has them. */
const LOGO =
  '<svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><rect width="32" height="32" rx="7" class="logo"/>' +
  '<path d="M6 20c3-5 6-5 8-1 2-4 5-4 8 1M13 12c2-3 4-3 5.5-.5 1.5-2.5 3.5-2.5 5.5.5" class="birds"/></svg>';

/** A page as it is served. */
export function shell(site: Site, page: Page): string {
  const { assets } = site;
  const file = (name: string): string => hrefFrom(page.path, name);
  const isHome = page.path === 'index';
  const tabs = site.parts.map(({ id, title, path }) =>
    link(page.path, path, escaped(title), page.part === id ? ' class="on"' : ''),
  );
  const bar = isHome
    ? ''
    : `<div class="side"><details class="menu"><summary>Pages of this part</summary></details><nav aria-label="Pages">${side(site, page)}</nav></div>`;
  const title = isHome ? 'Flock documentation' : `${page.title} · Flock`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escaped(title)}</title><meta name="description" content="${escaped(page.summary)}">
<link rel="icon" href="${file(assets.icon)}" type="image/svg+xml"><link rel="alternate" type="text/markdown" href="${file(`${page.path}.md`)}">
<script src="${file(assets.theme)}"></script><link rel="stylesheet" href="${file(assets.style)}">
<script src="${file(assets.script)}" defer data-root="${hrefFrom(page.path, '')}" data-index="${file(assets.index)}"></script></head>
<body class="${isHome ? 'home' : page.wide === true ? 'wide' : 'plain'}"><a class="skip" href="#main">To the text</a>
<header><a class="brand" href="${file('index.html')}">${LOGO}<b>Flock</b><span>docs</span></a>
<nav class="parts" aria-label="Parts">${tabs.join('')}</nav>
<div class="tools"></div></header>
<div class="frame">${bar}<main id="main" tabindex="-1">
${isHome ? '' : `<p class="crumb">${escaped([site.parts.find(({ id }) => id === page.part)?.title ?? '', page.group].filter((one, at, all) => one !== '' && all.indexOf(one) === at).join(' / '))}</p>`}
<article>${page.body}</article>
${neighbours(site, page)}
<footer><p>Flock ${escaped(assets.version)} · <a href="${file(`${page.path}.md`)}">this page as Markdown</a> · <a href="${file('llms.txt')}">llms.txt</a></p></footer>
</main>${isHome ? '' : contents(page)}</div></body></html>
`;
}
