/**
 * When a page reads again: when something happened that it shows, and from time to time. What happens comes over one
 * stream of a browser and account: the tab that holds the lock listens for the others. Console C13, C15.
 *
 *   connecting ──open──▶ live ──lost──▶ connecting      10 s without it: a note; 30 s: pages read every 15 s
 */
import { batch, computed, effect, signal } from '@preact/signals';
import { backoffMs } from '../../protocol/backoff.ts';
import type { OperationId } from '../../protocol/routes.ts';
import { STREAM_TOPICS, type Hint, type StreamTopic } from '../../protocol/stream.ts';
import type { Scope } from './ask.ts';
import { place } from './location.ts';
import { login, loginFor, open, refresh, session } from './session.ts';

const BEAT_MS = 15_000;
const NOTE_MS = 10_000;
const POLL_MS = 30_000;
const RETRY = { firstMs: 1_000, mostMs: 30_000, jitterPercent: 50 } as const;
/** What is heard within so little time is one change of the page. */
const TOGETHER_MS = 30;

/** Rises with each beat: every quarter of a minute while somebody looks. */
export const pulse = signal(0);
export const isOnline = signal(navigator.onLine);
/** The time that ages are shown by; it moves with the pulse. */
export const nowMs = signal(Date.now());

/** Since when nothing is heard; null while the stream is open. */
const awaySinceMs = signal<number | null>(Date.now());
/** Whether the page says that it is not live, and whether it reads by the clock. */
const isFar = signal(false);
const isPolling = signal(false);
export const isAway = computed(() => isFar.value && awaySinceMs.value !== null);

/** How often something of a topic was heard. */
const heard = Object.fromEntries(STREAM_TOPICS.map((topic) => [topic, signal(0)])) as Readonly<
  Record<StreamTopic, ReturnType<typeof signal<number>>>
>;
const everything = signal(0);

/** What an operation's answer hangs on, and after how many beats it is read all the same. */
interface Rhythm {
  readonly topics: readonly StreamTopic[];
  readonly beats: number;
}
const about = (topics: readonly StreamTopic[], beats = 4): Rhythm => ({ topics, beats });
const DELIVERIES = about(['delivery', 'deposit', 'transaction', 'payment', 'readiness', 'edge', 'rotation']);
const RHYTHMS: { readonly [O in OperationId]?: Rhythm } = {
  listAddresses: about(['address']),
  getAddress: about(['address', 'deposit']),
  // The depth of a transaction grows without an event.
  listTransactions: about(['deposit', 'transaction'], 2),
  getTransaction: about(['deposit', 'transaction'], 1),
  getTimeline: about(['deposit', 'transaction', 'delivery']),
  listDeliveries: DELIVERIES,
  listDeadLetters: DELIVERIES,
  listWebhookDeliveries: DELIVERIES,
  getEvent: DELIVERIES,
  listWebhooks: about(['webhook', 'delivery']),
  getWebhook: about(['webhook']),
  listChains: about(['readiness'], 2),
  getCoverage: about([], 1),
  listEdgeSessions: about(['edge', 'readiness']),
  getEdgeReadiness: about(['readiness', 'rotation', 'edge', 'address']),
  listRotations: about(['rotation']),
  getUsage: about(['usage', 'address']),
  listMembers: about(['member']),
  listInvitations: about(['member']),
  listApiKeys: about(['key']),
  // Depths grow without an event; a payment expires without one.
  listPayments: about(['payment', 'deposit'], 2),
  listLinkPayments: about(['payment', 'deposit'], 2),
  getPayment: about(['payment', 'deposit'], 1),
  listPaymentLinks: about(['payment']),
  getPaymentLink: about(['payment']),
  listInvoices: about(['payment']),
  listLinkInvoices: about(['payment']),
  getInvoice: about(['payment']),
  getPaymentSettings: about(['payment']),
  listBridgePolicies: about(['bridge']),
  listBridgeTransfers: about(['bridge']),
  getPaymentReadiness: about(['payment', 'readiness', 'rotation']),
};

/** Rises whenever what an operation answered may be old. To be read within a component or an effect. */
export function beatOf(operationId: OperationId): number {
  const rhythm = RHYTHMS[operationId];
  if (rhythm === undefined) return pulse.value + everything.value;
  const changes = rhythm.topics.reduce((sum, topic) => sum + heard[topic].value!, everything.value);
  return changes + (isPolling.value ? pulse.value : Math.floor(pulse.value / rhythm.beats));
}

/** Beats from now on; a tab that comes back into sight reads everything. */
export function startPulse(): void {
  const isSeen = (): boolean => document.visibilityState === 'visible';
  const beat = (): void => {
    if (!isSeen()) return;
    const away = awaySinceMs.peek();
    batch(() => {
      nowMs.value = Date.now();
      isPolling.value = away !== null && Date.now() - away >= POLL_MS;
      pulse.value += 1;
    });
  };
  const all = (): void => {
    if (isSeen()) everything.value += 1;
  };
  setInterval(beat, BEAT_MS);
  document.addEventListener('visibilitychange', all);
  window.addEventListener('online', () => {
    isOnline.value = true;
    all();
  });
  window.addEventListener('offline', () => {
    isOnline.value = false;
  });
  followPlace();
}

// ── The stream ───────────────────────────────────────────────────────────────────────────────────────────────────

let waiting = new Set<StreamTopic | 'resync'>();
/** Gives the page what was heard. A tab that nobody sees reads everything when it is seen again. */
function hear(topic: Hint['topic']): void {
  if (document.visibilityState !== 'visible' || topic === 'open') return;
  if (waiting.size === 0) setTimeout(apply, TOGETHER_MS);
  waiting.add(topic);
}
function apply(): void {
  const topics = waiting;
  waiting = new Set();
  batch(() => {
    nowMs.value = Date.now();
    for (const topic of topics) {
      if (topic === 'resync') everything.value += 1;
      else if (Object.hasOwn(heard, topic)) heard[topic].value! += 1;
    }
  });
}

let noting: ReturnType<typeof setTimeout> | undefined;
function setUp(isUp: boolean): void {
  if (isUp === (awaySinceMs.peek() === null)) return;
  clearTimeout(noting);
  awaySinceMs.value = isUp ? null : Date.now();
  if (isUp) [isFar.value, isPolling.value] = [false, false];
  else noteLater();
}
function noteLater(): void {
  noting = setTimeout(() => {
    isFar.value = true;
  }, NOTE_MS);
}

/** What the tab that listens says to the others, and what a new one asks. */
type Word = { readonly isUp: boolean } | { readonly hint: Pick<Hint, 'topic' | 'place'> } | 'who listens';

/** Listens for as long as the tab is in one organization and environment. */
function followPlace(): void {
  noteLater();
  const key = computed(() => {
    const { organizationId, environment } = place.value;
    return session.value.state !== 'in' || organizationId === null || environment === null
      ? null
      : `${organizationId}/${environment}`;
  });
  effect(() => {
    if (key.value === null) return;
    const [organizationId, environment] = key.value.split('/') as [string, Scope['environment']];
    const stopping = new AbortController();
    follow({ organizationId, environment }, `flock-stream ${key.value}`, stopping.signal);
    return () => {
      stopping.abort();
      setUp(false);
    };
  });
}

function follow(scope: Scope, name: string, signal: AbortSignal): void {
  const tabs = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(name);
  let lastEventId: string | undefined;
  let isUp = false,
    listens = false;
  const take = (what: Word): void => {
    if (what === 'who listens') {
      if (listens) tabs?.postMessage({ isUp } satisfies Word);
    } else if ('hint' in what) {
      lastEventId = what.hint.place;
      setUp(true);
      hear(what.hint.topic);
    } else {
      isUp = what.isUp;
      setUp(isUp);
    }
  };
  const say = (what: Word): void => {
    tabs?.postMessage(what);
    take(what);
  };
  tabs?.addEventListener('message', ({ data }) => take(data as Word));
  tabs?.postMessage('who listens' satisfies Word);
  signal.addEventListener('abort', () => tabs?.close());

  async function listen(): Promise<void> {
    listens = true;
    for (let tries = 0; !signal.aborted; tries += 1) {
      const token = await loginFor(scope.organizationId).catch(() => null);
      if (token === null && login.peek() === null) return; // signed out
      if (token !== null) {
        const client = open.with({ bearer: token.accessToken, environment: scope.environment });
        const onHint = ({ topic, place: at }: Hint): void => {
          tries = 0;
          if (topic === 'open') say({ isUp: true });
          say({ hint: { topic, place: at } });
        };
        const end = await client.listen(onHint, {
          signal,
          ...(lastEventId === undefined ? {} : { lastEventId }),
        });
        say({ isUp: false });
        if (end.why === 'refused' && end.refusal.code === 'UNAUTHORIZED') await refresh().catch(() => null);
      }
      const pauseMs = backoffMs(tries, RETRY, Math.random());
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  // The lock is given to the next tab when this one goes or is closed.
  const stopped = (): void => undefined;
  if (navigator.locks === undefined) void listen().catch(stopped);
  else void navigator.locks.request(name, { signal }, listen).catch(stopped);
}
