/** Deliveries of webhooks: history, dead letters, replay of one and of a time range. Spec §4.1, §6; decisions 4. */
import { timeOf } from '../../../actors/sandbox/time.ts';
import { REPLAY_WINDOW_DAYS } from '../../../actors/webhook/decide.ts';
import type { DeliveryView } from '../../../model/ports/read-store.ts';
import { PAGE_SIZE_MAX, type Page, type PageAsk } from '../../../protocol/page.ts';
import { pageAskOf } from '../../../protocol/cursor.ts';
import { isRefusal, Refused, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { REPLAY_RANGE_MAX } from '../../../protocol/schema/webhooks.ts';
import { accountOf, type Asked, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { deliveryView, listAskOf, pageAs } from '../views.ts';

const DAY_MS = 86_400_000;
const GONE_MEANWHILE: ReadonlySet<string> = new Set(['CONFLICT', 'NOT_FOUND']);

type Area =
  | 'listDeliveries'
  | 'listDeadLetters'
  | 'listWebhookDeliveries'
  | 'replayDelivery'
  | 'replayDeliveries'
  | 'simulateDuplicateDelivery';

export function deliveryHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    accounts,
    stores: { reads },
    nowMs,
  } = deps;
  const list = async (accountId: AccountId, filter: Parameters<typeof reads.deliveries>[1], page: PageAsk) =>
    pageAs(await reads.deliveries(accountId, filter, page), deliveryView);

  return {
    listDeliveries: (asked) => {
      const ask = listAskOf('deliveries', asked.query);
      return isRefusal(ask) ? Promise.resolve(ask) : list(accountOf(asked), ask.filter, ask.page);
    },
    listDeadLetters: (asked) => {
      const ask = listAskOf('deliveries', asked.query);
      return isRefusal(ask) ? Promise.resolve(ask) : list(accountOf(asked), { status: 'dead_lettered' }, ask.page);
    },
    async listWebhookDeliveries(asked) {
      const accountId = accountOf(asked);
      const { webhookId } = asked.params;
      const ask = listAskOf('deliveries', asked.query);
      if (isRefusal(ask)) return ask;
      // A deleted endpoint keeps its history, also one in which nothing was delivered.
      const known = await reads.webhook(accountId, webhookId, { deletedToo: true });
      return known === null
        ? unknownIn(asked, 'webhook', webhookId)
        : list(accountId, { webhookId, ...ask.filter }, ask.page);
    },
    replayDelivery: {
      replay: async (stored) => stored as { deliveryId: string },
      async handle(asked) {
        const accountId = accountOf(asked);
        const known = await reads.delivery(accountId, asked.params.id);
        if (known === null) return unknownIn(asked, 'delivery', asked.params.id);
        const answer = await accounts.ask(accountId, {
          type: 'replay_delivery',
          deliveryId: known.id,
          newDeliveryId: newId('dlv', nowMs()),
          eventAtMs: known.eventAtMs,
          ...claimOf(asked),
        });
        return answer.ok === true ? answer.reply : answer;
      },
    },
    replayDeliveries: (asked) => replayRange(deps, asked),
    async simulateDuplicateDelivery(asked) {
      const accountId = accountOf(asked);
      const found = await reads.deliveries(
        accountId,
        { eventId: asked.body.eventId },
        { page: 0, size: PAGE_SIZE_MAX },
      );
      const first = found.content.filter(({ replay }) => replay === 0);
      if (first.length === 0) return unknownIn(asked, 'delivered event', asked.body.eventId);
      const replayed = await replayEach(deps, accountId, first);
      return isRefusal(replayed) ? replayed : { deliveryIds: replayed };
    },
  };
}

/**
 * Counts the first deliveries created in `[from, to)` that can be replayed (their endpoint is there, their event is no
 * older than seven days) and, unless it is a dry run, delivers each of them once more.
 */
async function replayRange(deps: HandlerDeps, asked: Asked<'replayDeliveries'>) {
  const accountId = accountOf(asked);
  const { from, to, dryRun, ...filter } = asked.body;
  const fromMs = Date.parse(from),
    toMs = Date.parse(to);
  if (toMs <= fromMs) return refuse('INVALID_INPUT', { field: 'to', reason: 'must be after from' });
  const { deliveries: read } = deps.stores.reads;
  const page = (after: string | null) => {
    const ask = pageAskOf('deliveries', { size: PAGE_SIZE_MAX, ...(after === null ? {} : { after }) });
    if (isRefusal(ask)) throw new Refused(ask);
    return read.call(deps.stores.reads, accountId, { ...filter, fromMs, toMs }, ask);
  };
  const endpoints = new Set(
    (await deps.stores.reads.webhooks(accountId)).flatMap(({ id, status }) => (status === 'deleted' ? [] : [id])),
  );
  const sinceMs = (await timeOf(deps, accountId)) - REPLAY_WINDOW_DAYS * DAY_MS;
  const found = await firstDeliveries(
    page,
    ({ webhookId, eventAtMs, replay }) => replay === 0 && eventAtMs >= sinceMs && endpoints.has(webhookId),
  );
  if (isRefusal(found)) return found;
  if (dryRun) return { count: found.length, replayed: 0, dryRun };
  const replayed = await replayEach(deps, accountId, found);
  return isRefusal(replayed) ? replayed : { count: found.length, replayed: replayed.length, dryRun };
}

/**
 * Deliveries of all pages that can be replayed, newest first. Refuses: INVALID_INPUT for more than one call may replay.
 */
async function firstDeliveries(
  page: (after: string | null) => Promise<Page<DeliveryView>>,
  wanted: (delivery: DeliveryView) => boolean,
): Promise<DeliveryView[] | Refusal> {
  const found: DeliveryView[] = [];
  for (let after: string | null = null; ;) {
    const { content, next }: Page<DeliveryView> = await page(after);
    found.push(...content.filter(wanted));
    if (found.length > REPLAY_RANGE_MAX) {
      return refuse('INVALID_INPUT', {
        field: 'from',
        reason: 'the range holds too many deliveries',
        max: REPLAY_RANGE_MAX,
      });
    }
    if (next === null) return found;
    after = next;
  }
}

/**
 * New deliveries of the same events, oldest first. Refuses what the account refuses for the first that it does not
 * take.
 */
async function replayEach(
  { accounts, nowMs }: HandlerDeps,
  accountId: AccountId,
  deliveries: readonly DeliveryView[],
): Promise<string[] | Refusal> {
  const made: string[] = [];
  for (const { id, eventAtMs } of deliveries.toReversed()) {
    const answer = await accounts.ask(accountId, {
      type: 'replay_delivery',
      deliveryId: id,
      newDeliveryId: newId('dlv', nowMs()),
      eventAtMs,
    });
    if (answer.ok === true) made.push(answer.reply.deliveryId);
    // One whose window closed, or whose endpoint was deleted, since it was counted is left out of a range.
    else if (isRefusal(answer) && (!GONE_MEANWHILE.has(answer.code) || deliveries.length === 1)) return answer;
  }
  return made;
}
