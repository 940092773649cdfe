/**
 * A real browser on real pages: Debian's Chromium. Everything that a page asks, writes to its console or breaks of its
 * policy is recorded; `soundness` says what of it must not be.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { ROUTES } from '../../../protocol/routes.ts';
import { ROOT } from '../tree.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Throws: Error when there is no browser, with what to install. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? PLACES.find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error(`no browser at ${PLACES.join(', ')}: apt-get install chromium`);
  // A root process has no sandbox of Chromium; the pages are ours.
  const args = ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', '--font-render-hinting=none'];
  return chromium.launch({ executablePath, args });
}

/** One request that a page made. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly status: number | null;
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly asked: readonly Asked[];
  /** Forgets what was recorded so far. */
  forget(): void;
  /** What must not be, in words; nothing where all is well. */
  soundness(): string[];
}

const REPORTS = `document.addEventListener('securitypolicyviolation', (event) => {
  console.error('policy broken: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
})`;

/** What the browser itself says of a refused request; the test of the refusal looks at the page. */
const OF_AN_ANSWER = /^Failed to load resource: the server responded with a status of (?:4\d\d|503)/;
/** What a node answers whose database is late, as on a machine that is busy: the page says so and asks again. */
const LATE = 503;

const PATTERNS = Object.values(ROUTES).map(
  ({ method, path }) => [method, new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`)] as const,
);
const isOurs = (method: string, path: string): boolean =>
  path === '/' ||
  path.startsWith('/docs/') ||
  path.startsWith('/console') ||
  // The signed URL of a file: no operation of the description. Migration M-U1.
  (method === 'PUT' && /^\/v1\/migration\/uploads\/upl_[a-z2-7]{26}\/content$/.test(path)) ||
  PATTERNS.some(([known, pattern]) => known === method && pattern.test(path));

/**
 * A browser of one person.
 *
 * @param home - origin of the pages; a request to any other host is a fault
 * @param options - of the context: viewport, colour scheme, time zone
 */
export async function visit(browser: Browser, home: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ baseURL: home, locale: 'en-GB', timezoneId: 'UTC', ...options });
  // A broken policy is reported to the page that broke it; the console carries it here.
  await context.addInitScript({ content: REPORTS });
  let faults: string[] = [];
  let asked: Asked[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error' && !OF_AN_ANSWER.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => faults.push(`thrown: ${error.error().message}`));
  const note = (method: string, url: string, status: number | null): void => {
    const { origin, pathname, protocol } = new URL(url);
    if (protocol === 'data:' || protocol === 'blob:') return;
    asked.push({ method, url, status });
    if (origin !== new URL(home).origin) faults.push(`another host: ${method} ${url}`);
    else if (!isOurs(method, pathname)) faults.push(`not of the description: ${method} ${pathname}`);
    if (status !== null && status >= 500 && status !== LATE) faults.push(`answered ${status}: ${method} ${pathname}`);
  };
  context.on('response', (response) => note(response.request().method(), response.url(), response.status()));
  context.on('requestfailed', (request) => note(request.method(), request.url(), null));
  const page = await context.newPage();
  return {
    context,
    page,
    get asked() {
      return asked;
    },
    forget() {
      [faults, asked] = [[], []];
    },
    soundness: () => [...new Set(faults)],
  };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

interface Violation {
  id: string;
  help: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

/**
 * What axe-core says of a page, one line a violation. It is evaluated by the debugger, so that the page's own policy
 * stays on.
 */
export async function accessibility(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const run = `(() => { ${AXE}; return axe.run(document, ${JSON.stringify({ runOnly: RULES })}) })()`;
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression: `${run}.then(({ violations }) => JSON.stringify(violations))`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`axe: ${JSON.stringify(exceptionDetails)}`);
    const violations = JSON.parse(String(result.value)) as Violation[];
    return violations.map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary ?? ''})`).join('; ')}`,
    );
  } finally {
    await session.detach();
  }
}

/** Where pictures are kept for people to look at; null where nobody asked for them. */
export const PICTURES = process.env['TEST_PICTURES'] ?? null;

/** Keeps a picture of the whole page where somebody wants to look at it. */
export async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === null) return;
  const folder = join(ROOT, PICTURES);
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, animations: 'disabled' });
}

/** Whatever a page must hold to, in both themes, wide and narrow: each fault in words. */
export async function isSound(page: Page, visitor: Visitor, name: string): Promise<string[]> {
  const faults: string[] = [];
  for (const [colorScheme, width] of [
    ['light', 1_280],
    ['dark', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 860 });
    faults.push(...(await accessibility(page)));
    const beyond = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    if (beyond !== 0) faults.push(`${String(beyond)} px are beyond the right edge of ${width}`);
    await picture(page, `${name}-${colorScheme}-${width}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1_280, height: 860 });
  faults.push(...visitor.soundness());
  visitor.forget();
  return faults.map((fault) => `${name}: ${fault}`);
}
