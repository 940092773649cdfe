/** Values that a scrape of /metrics asks for. Issue 2 point 11. */
import type { ActorSystem } from '../../actors/kernel/index.ts';
import type { DeliveryStore } from '../../model/ports/delivery-store.ts';
import type { InboxStore } from '../../model/ports/inbox-store.ts';
import type { MailStore } from '../../model/ports/mail-store.ts';
import type { OperatorStore } from '../../model/ports/operator-store.ts';
import type { WatchStore } from '../../model/ports/watch-store.ts';
import { checkValues, type Kept } from '../../protocol/node/doctor/kept.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { within } from '../within.ts';
import type { GaugeReader, OwnFigures, StoredFigures } from './gauges.ts';

/** A scrape waits no longer for the database. Choice: well below the ten seconds of a scrape. */
const STORED_WAIT_MS = 2_000;

export interface GaugeParts {
  readonly stores: {
    readonly deliveries: Pick<DeliveryStore, 'incompletePublications'>;
    readonly mail: Pick<MailStore, 'unsent'>;
    readonly inbox: Pick<InboxStore, 'countSetAside'>;
    readonly operators: Pick<OperatorStore, 'counterGaps' | 'databaseState'>;
    readonly watch: Pick<WatchStore, 'coverage'>;
  };
  readonly system: Pick<ActorSystem, 'counts'>;
  readonly liveChains: () => readonly Chain[];
  readonly streamCount: () => number;
  /** Days until the certificate at PUBLIC_URL ends. */
  readonly certificateDays: () => number | null;
  /** What the doctor of this node saw last. */
  readonly examined: () => Kept | null;
  /** What the pools of the database do. */
  readonly statements: { pools(): OwnFigures['pools']; statements(): OwnFigures['statements'] };
  /** What the nodes together leave undone. */
  readonly shares: () => Pick<OwnFigures, 'shardsUnowned' | 'chainUnfollowed' | 'roleUnserved' | 'callsRefused'>;
  /** Whether the database is known to be away: then it is not waited for. */
  readonly isAway: () => boolean;
  readonly nowMs: () => number;
}

export function createGaugeReader(parts: GaugeParts): GaugeReader {
  const { system, streamCount, statements, certificateDays, examined, shares, isAway } = parts;
  /** A chain of which no block was ever seen has been waited for since then. */
  const sinceMs = parts.nowMs();
  /** What is being read: a frozen database is asked once, however often it is scraped. */
  let reading: Promise<StoredFigures | null> | null = null;
  return {
    async read() {
      const { waiting, oldestWaitMs, residents, deadLetters } = system.counts();
      if (!isAway())
        reading ??= storedOf(parts, sinceMs)
          .catch(() => null)
          .finally(() => {
            reading = null;
          });
      return {
        own: {
          mailboxDepth: waiting,
          mailboxAgeSeconds: oldestWaitMs / 1_000,
          residentAccounts: residents,
          edgeStreams: streamCount(),
          certificateDays: certificateDays(),
          checks: checkValues(examined()),
          pools: statements.pools(),
          statements: statements.statements(),
          ...shares(),
          deadLetters: Object.values(deadLetters).reduce((sum, count) => sum + count, 0),
        },
        stored: isAway() || reading === null ? null : await within(reading, STORED_WAIT_MS),
      };
    },
  };
}

async function storedOf({ stores, liveChains, nowMs }: GaugeParts, sinceMs: number): Promise<StoredFigures> {
  const chains = liveChains();
  const [state, publicationsIncomplete, mailUnsent, factsSetAside, nonceGaps, ...coverage] = await Promise.all([
    databaseState(stores.operators, nowMs),
    stores.deliveries.incompletePublications(),
    stores.mail.unsent(),
    stores.inbox.countSetAside(),
    stores.operators.counterGaps(),
    ...chains.map((chain) => stores.watch.coverage(chain)),
  ]);
  const byChain = (value: (index: number) => number): Record<string, number> =>
    Object.fromEntries(chains.map((chain, index) => [chain, value(index)]));
  return {
    ...state,
    publicationsIncomplete,
    mailUnsent,
    factsSetAside,
    nonceGaps,
    blocksUnresolved: byChain((index) => coverage[index]!.unresolvedCount),
    headAgeSeconds: byChain((index) => Math.max(0, (nowMs() - (coverage[index]!.headAtMs ?? sinceMs)) / 1_000)),
  };
}

/** The database's clock is compared with this one's in the middle of the question, as a time server's is. */
async function databaseState(
  operators: Pick<OperatorStore, 'databaseState'>,
  nowMs: () => number,
): Promise<Pick<StoredFigures, 'clockOffsetSeconds' | 'database'>> {
  const askedMs = nowMs();
  const { clockMs, ...database } = await operators.databaseState();
  return { clockOffsetSeconds: ((askedMs + nowMs()) / 2 - clockMs) / 1_000, database };
}
