/** What happened to one transaction, step by step, and what was published of it. Console C17. */
import { eventId } from '../../../protocol/node/ids.ts';
import { EVENTS } from '../../../protocol/slugs.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { TransactionView } from '../../../model/ports/transaction-view.ts';
import type { TimelineStore, TransactionEntry, TransactionEvent } from '../../../model/ports/timeline-store.ts';
import { accountOf, unknownIn, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';

/** Steps of one transaction: far above what reorgs and prices make of one. */
const STEPS_MAX = 200;
const DELIVERIES_MAX = 20;

type Timeline = ReplyOf<'getTimeline'>;
type Step = Timeline['steps'][number];

/** What an event is to a reader; what is missing concerns the account alone. */
const STEP_OF: Readonly<Partial<Record<TransactionEvent['type'], Step['step']>>> = {
  deposit_moved: 'moved',
  withdrawal_built: 'built',
  withdrawal_repriced: 'repriced',
  withdrawal_signed: 'signed',
  withdrawal_broadcast: 'broadcast',
  withdrawal_version_dropped: 'dropped',
  withdrawal_included: 'included',
  withdrawal_orphaned: 'orphaned',
  withdrawal_confirmed: 'confirmed',
  withdrawal_failed: 'failed',
  withdrawal_expired: 'expired',
};
const STEP_OF_ENTRY: Readonly<Record<TransactionEntry['kind'], Step['step']>> = {
  detected: 'detected',
  credit: 'confirmed',
  reversal: 'reversed',
};

export function timelineHandler({
  stores: { reads, timeline },
}: Pick<HandlerDeps, 'stores'>): Pick<Handlers, 'getTimeline'> {
  return {
    async getTimeline(asked) {
      const accountId = accountOf(asked),
        { id } = asked.params;
      const row = await reads.transaction(accountId, id);
      if (row === null) return unknownIn(asked, 'transaction', id);
      const events = await timeline.events(accountId, id, STEPS_MAX);
      const entries = row.direction === 'in' ? await timeline.entries(accountId, id, STEPS_MAX) : [];
      const ids = [...idsOf(accountId, events), ...entries.flatMap((entry) => entry.eventId ?? [])];
      const published = await timeline.published(accountId, ids, DELIVERIES_MAX);
      return {
        id,
        confirmations: row.confirmations,
        threshold: row.threshold,
        steps: stepsOf(row, events, entries),
        events: published.map(eventOf),
      };
    },
  };
}

/** An event of an account is published under its place and name. */
const idsOf = (accountId: string, events: readonly TransactionEvent[]): string[] =>
  events.flatMap(({ version, type }) =>
    (EVENTS as readonly string[]).includes(type) ? [eventId(accountId, version, type)] : [],
  );

function stepsOf(
  { status, txid, height, updatedAtMs }: TransactionView,
  events: readonly TransactionEvent[],
  entries: readonly TransactionEntry[],
): Step[] {
  const steps = [
    ...entries.map(({ kind, atMs }) => ({ step: STEP_OF_ENTRY[kind], atMs, txid, height: null, reason: null })),
    ...events.flatMap(({ type, ...event }) => {
      const step = STEP_OF[type];
      return step === undefined ? [] : [{ ...event, step }];
    }),
  ].toSorted((left, right) => left.atMs - right.atMs);
  // Builds that nobody signed end together, in an event that names no single one.
  if (status === 'expired' && !steps.some(({ step }) => step === 'expired'))
    steps.push({ step: 'expired', atMs: updatedAtMs, txid: null, height: null, reason: null });
  const last = steps.findLastIndex(({ step }) => step === 'confirmed');
  return steps.map(({ step, atMs, txid: of, height: at, reason }, place) => ({
    step,
    at: instantOf(atMs),
    txid: of,
    height: at ?? (place === last && status === 'confirmed' ? height : null),
    reason,
  }));
}

const eventOf = ({
  createdAtMs,
  deliveries,
  ...event
}: Awaited<ReturnType<TimelineStore['published']>>[number]): Timeline['events'][number] => ({
  ...event,
  createdAt: instantOf(createdAtMs),
  deliveries: deliveries.map(({ createdAtMs: at, ...delivery }) => ({ ...delivery, createdAt: instantOf(at) })),
});
