/**
 * P31: the console in headless Chromium, as on a slow machine over a slow line (console C21): CPU a quarter as fast,
 * 150 ms a round trip, 1.6 Mbit/s. First load, turns between pages, memory after a hundred of them, and how soon a fact
 * is a row on an open page. Medians of five where a figure is of one load; the limits are the goals.
 */
import type { CDPSession, Page } from 'playwright-core';
import { openBrowser } from '../test/support/browser/browser.ts';
import { hasCome, signIn } from '../test/support/browser/console.ts';
import { openDeveloper } from '../test/support/developer.ts';
import { median, percentile, type Figure } from './figure.ts';

const LOADS = 5;
const CPU_SLOWER = 4;
const LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 };
const TURNS = 20;
const MANY_TURNS = 100;
const FACTS = 40;
/** How long a load is watched for tasks and shifts after it has come. */
const AFTER_MS = 2_000;
const NAMES = ['Addresses', 'Transactions', 'Endpoints', 'Deliveries'] as const;

const emit = (
  id: string,
  what: string,
  { ours, limit, unit }: Pick<Figure, 'ours' | 'limit' | 'unit'>,
  note: string,
): void =>
  console.log(JSON.stringify({ id, what, ours, limit, unit, better: 'lower', goal: 1, note } satisfies Figure));

/** Noted from the first byte on. A task above 50 ms keeps a person waiting who types meanwhile. */
const WATCH = `
  window.seen = { fcp: 0, lcp: 0, cls: 0, blocked: 0, events: [] };
  const watch = (type, take, more) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...more });
  watch('paint', (one) => { if (one.name === 'first-contentful-paint') seen.fcp = one.startTime; });
  watch('largest-contentful-paint', (one) => { seen.lcp = one.startTime; });
  watch('layout-shift', (one) => { if (!one.hadRecentInput) seen.cls += one.value; });
  watch('longtask', (one) => { if (seen.fcp !== 0) seen.blocked += Math.max(0, one.duration - 50); });
  watch('event', (one) => { if (one.interactionId !== 0) seen.events.push(one.duration); }, { durationThreshold: 16 });`;

interface Seen {
  readonly fcp: number;
  readonly lcp: number;
  readonly cls: number;
  readonly blocked: number;
  readonly events: number[];
}
const seenOn = async (page: Page): Promise<Seen> => (await page.evaluate('window.seen')) as Seen;

const [developer, browser] = await Promise.all([openDeveloper(), openBrowser()]);
const { cloudUrl, record } = developer.deployment;

/** A new person's browser, its machine and line slowed down. */
async function slowly(): Promise<{ page: Page; session: CDPSession; close(): Promise<void> }> {
  const context = await browser.newContext({ baseURL: cloudUrl, locale: 'en-GB' });
  await context.addInitScript({ content: WATCH });
  const page = await context.newPage(),
    session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', LINE);
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWER });
  return { page, session, close: () => context.close() };
}

async function firstLoads(): Promise<void> {
  const loads: (Seen & { bytes: number; requests: number })[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    const { page, session, close } = await slowly();
    let [bytes, requests] = [0, 0];
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
      requests += 1;
    });
    await page.goto('/console/');
    await hasCome(page);
    await page.waitForTimeout(AFTER_MS);
    loads.push({ ...(await seenOn(page)), bytes, requests });
    await close();
  }
  const of = (name: 'fcp' | 'lcp' | 'cls' | 'blocked' | 'bytes' | 'requests') =>
    median(loads.map((load) => load[name]));
  const note = 'the page to sign in, nothing kept from before';
  emit('P31a', 'console, first load', { ours: of('bytes') / 1_000, limit: 90, unit: 'kB' }, note);
  emit('P31a-requests', 'its requests', { ours: of('requests'), limit: 8, unit: '' }, note);
  emit('P31b', 'first contentful paint', { ours: of('fcp'), limit: 1_200, unit: 'ms' }, note);
  emit('P31b-largest', 'largest contentful paint', { ours: of('lcp'), limit: 1_800, unit: 'ms' }, note);
  emit('P31b-blocked', 'total blocking time', { ours: of('blocked'), limit: 100, unit: 'ms' }, note);
  emit('P31b-shift', 'cumulative layout shift', { ours: of('cls'), limit: 0.02, unit: '' }, note);
}

/** From the press of a link until the heading of its page was painted, milliseconds. */
const turn = async (page: Page, name: string): Promise<number> =>
  (await page.evaluate(`new Promise((done) => {
    const link = [...document.querySelectorAll('nav.pages a')].find((one) => one.textContent.trim() === ${JSON.stringify(name)});
    const at = performance.now();
    const look = () => document.querySelector('h1')?.textContent.trim() === ${JSON.stringify(name)}
      ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - at)))
      : requestAnimationFrame(look);
    link.click();
    look();
  })`)) as number;

const heapOf = async (session: CDPSession): Promise<number> => {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
};

async function turns(): Promise<void> {
  const { page, session, close } = await slowly();
  await page.goto('/console/');
  await signIn(page, record.owner);
  await page.goto(`/console/o/${record.organizationId}/sandbox`);
  await hasCome(page);
  // The script of each page comes with its first visit; what is measured is the page.
  for (const name of [...NAMES, ...NAMES]) {
    await turn(page, name);
    await hasCome(page);
  }
  const took: number[] = [];
  for (let at = 0; at < TURNS; at += 1) {
    took.push(await turn(page, NAMES[at % NAMES.length]!));
    await hasCome(page);
  }
  emit(
    'P31c',
    'a turn to another page, p95',
    { ours: percentile(took, 0.95), limit: 100, unit: 'ms' },
    `from the press to the paint of its heading, its rows apart; p50 ${Math.round(median(took))} ms`,
  );
  // What a person does, by the mouse and the keyboard, as the browser counts it.
  for (let at = 0; at < TURNS; at += 1) {
    await page
      .locator('nav.pages a', { hasText: NAMES[at % NAMES.length]! })
      .first()
      .click();
    await hasCome(page);
    await page.keyboard.press('Tab');
  }
  const { events } = await seenOn(page);
  emit(
    'P31d',
    'interaction to next paint, p98',
    { ours: events.length === 0 ? 16 : percentile(events, 0.98), limit: 100, unit: 'ms' },
    `${events.length} presses and keys that took 16 ms or more`,
  );
  const before = await heapOf(session);
  for (let at = 0; at < MANY_TURNS; at += 1) {
    await turn(page, NAMES[at % NAMES.length]!);
    await hasCome(page);
  }
  emit(
    'P31e',
    `memory after ${MANY_TURNS} turns more`,
    { ours: Math.max(0, (await heapOf(session)) - before) / 1e6, limit: 5, unit: 'MB' },
    'the heap after a collection',
  );
  await close();
}

/** On a page that is open, at full speed: the line and the machine are the viewer's. */
async function rows(): Promise<void> {
  const context = await browser.newContext({ baseURL: cloudUrl, locale: 'en-GB' });
  const page = await context.newPage();
  await page.goto('/console/');
  await signIn(page, record.editor);
  await page.goto(`/console/o/${record.organizationId}/sandbox/transactions`);
  await hasCome(page);
  const { address } = await developer.atEdge.must('createAddress', { body: { chain: 'eth', userRef: 'rows' } });
  const took: number[] = [];
  for (let at = 1; at <= FACTS; at += 1) {
    const amount = `0.${String(at).padStart(3, '0')}7`;
    const shown = page.locator('td', { hasText: amount }).first().waitFor();
    await developer.atEdge.must('simulateDeposit', { body: { chain: 'eth', address, amount, autoConfirm: false } });
    const sinceMs = performance.now(); // answered once it is written
    await shown;
    took.push(performance.now() - sinceMs);
  }
  emit(
    'P31f',
    'a deposit that is written → its row on an open page, p95',
    { ours: percentile(took, 0.95), limit: 1_500, unit: 'ms' },
    `${FACTS} of them, one after another; p50 ${Math.round(median(took))} ms`,
  );
  await context.close();
}

try {
  await firstLoads();
  await turns();
  await rows();
} finally {
  await browser.close();
  await developer.close();
}
