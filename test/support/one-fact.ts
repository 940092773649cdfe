/** One deposit in the database: what the watcher, the account and the publisher ask for and write, in their order. */
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { eventId, newId } from '../../protocol/node/ids.ts';
import { SCALE_USERS } from './scale.ts';
import { depositRow, linksAfter, publicationRow, recordOf, transferTo, write } from './store-rows.ts';

/** Everything that one fact causes in the database, and what is asked for on the way. */
export async function oneFact(stores: Stores, accountId: AccountId): Promise<void> {
  const { read, inbox, watch, accounts, deliveries } = stores;
  const ledger = 'eth';
  const [known] = (await read.addresses(accountId, { userRef: SCALE_USERS.one, chain: 'eth' }, { page: 0, size: 1 }))
    .content;
  const row = known!;
  const cursor = await watch.cursor(ledger);
  const [link] = linksAfter(cursor ?? { height: 9_999_999, hash: 'start' }, 1, `b${newId('req', Date.now())}`);
  await watch.watched('live', [row.addressKey]);
  const transfer = transferTo(row, link!);
  await watch.recordBlock(ledger, recordOf(link!, [transfer], { previous: cursor }));
  await watch.coverage(ledger);
  await watch.links(ledger, link!.height + 1, 20);
  await watch.unresolvedHeights(ledger, 10);
  await watch.immature(ledger, link!.height, 10);
  await inbox.accountsWithInbox(Date.now() + 1_000, 10);
  await accounts.load(accountId);
  const waiting = await inbox.inboxOf(accountId, 200);
  const deposit = depositRow(row, {
    txid: transfer.txid,
    outputIndex: transfer.outputIndex,
    height: link!.height,
    blockHash: link!.hash,
    amount: BigInt(transfer.amount),
  });
  // A database that is measured twice has what the run before told.
  const told = publicationRow(accountId, {
    eventId: eventId(accountId, transfer.txid),
    orderKey: row.address,
    createdAtMs: Date.now(),
  });
  await write(stores, accountId, [
    { table: 'deposit', row: deposit },
    { table: 'publication', row: told },
    {
      table: 'ledger_entry',
      row: {
        depositId: deposit.id,
        accountId,
        incarnation: 1,
        kind: 'detected',
        amount: deposit.amount,
        eventId: told.eventId,
      },
    },
    { table: 'inbox_taken', ids: waiting.inbox.map(({ id }) => id) },
  ]);
  await watch.mature(ledger, [{ ...transfer, confirmations: 12 }]);
  await watch.openWithdrawals(ledger, link!.height - 10, 5);
  const [claimed] = await deliveries.claimDue([accountId], 1, Date.now(), 30_000, []);
  const { delivery } = claimed!;
  await deliveries.standing(accountId, [delivery]);
  await deliveries.recordAttempts([
    {
      accountId,
      deliveryId: delivery.id,
      attempt: 1,
      statusCode: 200,
      durationMs: 5,
      error: null,
      atMs: Date.now(),
      next: { status: 'delivered', nextAttemptAtMs: null, disableEndpoint: false },
    },
  ]);
}
