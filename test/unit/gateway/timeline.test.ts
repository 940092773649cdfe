/** The steps of a withdrawal, as events of its account have them. Console C17. */
import test from 'ava';
import { timelineHandler } from '../../../gateway/http/transaction/timeline.ts';
import type { TransactionEvent } from '../../../model/ports/timeline-store.ts';
import { eventId } from '../../../protocol/node/ids.ts';

const ACCOUNT = 'org_24pgoiqjq2dgpoqhm7nuhjd5zi_live';
type Row = Readonly<Record<string, unknown>>;

/** The answer about a withdrawal with such events, and the events that were looked for. */
async function timelineOf(types: readonly TransactionEvent['type'][], row: Row) {
  let asked: readonly string[] = [];
  const { getTimeline } = timelineHandler({
    stores: {
      reads: { transaction: async () => ({ direction: 'out', confirmations: 3, threshold: 12, txid: '0xa', ...row }) },
      timeline: {
        events: async () =>
          types.map((type, at) => ({ version: at + 7, type, txid: `0x${at}`, height: null, reason: null, atMs: at })),
        entries: async () => [],
        published: async (_account: string, ids: readonly string[]) => {
          asked = ids;
          return [];
        },
      },
    },
  } as never);
  const answer = await (
    getTimeline as (asked: unknown) => Promise<{ steps: { step: string; height: number | null }[] }>
  )({
    params: { id: 'txn_x' },
    caller: { accountId: ACCOUNT },
  });
  return { steps: answer.steps.map(({ step }) => step), asked, answer };
}

test('console C17: new prices, refusals and reorgs are steps, and what concerns the account alone is none', async (t) => {
  const { steps, asked, answer } = await timelineOf(
    [
      ...(['withdrawal_built', 'withdrawal_bound', 'withdrawal_signed', 'withdrawal_doubted'] as const),
      ...(['withdrawal_broadcast', 'withdrawal_included', 'withdrawal_orphaned', 'withdrawal_repriced'] as const),
      ...(['withdrawal_signed', 'withdrawal_version_dropped', 'withdrawal_included', 'withdrawal_confirmed'] as const),
    ],
    { status: 'confirmed', height: 9, updatedAtMs: 99 },
  );
  t.deepEqual(steps, [
    ...['built', 'signed', 'broadcast', 'included', 'orphaned', 'repriced', 'signed', 'dropped', 'included'],
    'confirmed',
  ]);
  t.is(answer.steps.at(-1)!.height, 9);
  t.deepEqual(asked, [eventId(ACCOUNT, 11, 'withdrawal_broadcast'), eventId(ACCOUNT, 18, 'withdrawal_confirmed')]);
});

test('console C17: a build that ended with others has its last step', async (t) => {
  const { steps } = await timelineOf(['withdrawal_built'], { status: 'expired', height: null, updatedAtMs: 5 });
  t.deepEqual(steps, ['built', 'expired']);
});
