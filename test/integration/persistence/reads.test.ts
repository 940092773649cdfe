import test from 'ava';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  appendOf,
  depositWrites,
  linksAfter,
  newOrganization,
  NOW_MS,
  openStores,
  publicationRow,
  recordOf,
  transferTo,
  webhookRow,
  withdrawalRow,
  write,
  type TestOrganization,
} from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
let ours: TestOrganization;
let theirs: TestOrganization;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  [ours, theirs] = [await newOrganization(stores), await newOrganization(stores)];
});
test.after.always(() => database.close());

const ALL = { page: 0, size: 200 };

async function issue(accountId: AccountId, ...more: Partial<AddressRow>[]): Promise<AddressRow[]> {
  const rows = more.map((one) => addressRow(accountId, one));
  await write(
    stores,
    accountId,
    rows.map((row): RowWrite => ({ table: 'address', row })),
  );
  return rows;
}

test('decisions 3: addresses are listed newest first, stable, filtered and counted', async (t) => {
  const { live } = await newOrganization(stores);
  const rows = await issue(
    live,
    ...Array.from({ length: 7 }, (_, n) => ({
      userRef: n % 2 === 0 ? 'even' : 'odd',
      tag: n < 3 ? 'early' : n === 5 ? 'base' : null,
      status: n === 6 ? ('archived' as const) : ('active' as const),
      chain: n === 5 ? ('base' as const) : ('eth' as const),
    })),
  );
  await write(stores, live, [
    {
      table: 'address',
      row: addressRow(live, { purpose: 'gas_tank', index: null, derivationPath: "m/44'/60'/0'/1/0" }),
    },
  ]);
  const newest = rows.map(({ id }) => id).reverse();
  const pages = await Promise.all([0, 1, 2, 3].map((page) => stores.read.addresses(live, {}, { page, size: 3 })));
  t.deepEqual(
    pages.flatMap(({ content }) => content.map(({ id }) => id)),
    newest,
  );
  t.deepEqual(
    pages.map(({ page, size, totalElements, totalPages }) => [page, size, totalElements, totalPages]),
    [
      [0, 3, 7, 3],
      [1, 3, 7, 3],
      [2, 3, 7, 3],
      [3, 3, 7, 3],
    ],
  );
  t.deepEqual(pages[0]!.content[0], rows[6]);
  const by = async (filter: Parameters<Stores['read']['addresses']>[1]) =>
    (await stores.read.addresses(live, filter, ALL)).totalElements;
  t.deepEqual(
    await Promise.all([
      by({ userRef: 'even' }),
      by({ tag: 'early' }),
      by({ status: 'archived' }),
      by({ chain: 'base' }),
      by({ userRef: 'even', tag: 'early' }),
      by({ userRef: 'nobody' }),
    ]),
    [4, 3, 1, 1, 2, 0],
  );
  t.is((await stores.read.addresses(live, {}, { page: 1_000_000, size: 200 })).content.length, 0);
});

test('spec §1.6: an EVM address is found by any of its networks, and by no other family', async (t) => {
  const [row] = await issue(ours.live, {});
  t.is((await stores.read.addressByText(ours.live, 'polygon', row!.address))?.id, row!.id);
  t.is(await stores.read.addressByText(ours.live, 'tron', row!.address), null);
  t.is(await stores.read.addressByText(ours.live, 'eth', row!.address.toUpperCase()), null, 'compared verbatim');
});

test('deposits and withdrawals are one list with the confirmations of the watcher', async (t) => {
  const { sandbox } = await newOrganization(stores);
  const [address] = await issue(sandbox, { userRef: 'u', tag: 'x' });
  const ledger = `eth@${sandbox}` as const;
  const links = linksAfter({ height: 99, hash: 'a99' }, 5, 'a');
  const transfer = transferTo(address!, links[0]!, { from: ['0xpayer'], amount: '1000' });
  for (const [index, link] of links.entries())
    await stores.watch.recordBlock(
      ledger,
      recordOf(link, index === 0 ? [transfer] : [], index === 0 ? { previous: null } : {}),
    );
  const paid = depositWrites(address!, 'confirmed', {
    txid: transfer.txid,
    height: 100,
    blockHash: 'a100',
    amount: 1000n,
    userRef: 'u',
    tag: 'x',
    createdAtMs: NOW_MS + 1,
  });
  const orphaned = depositWrites(address!, 'reversed', { height: 101, createdAtMs: NOW_MS + 2 });
  const sent = withdrawalRow(address!, {
    status: 'confirming',
    versions: [{ txid: '0xout', signedPayload: '0x', payload: '0x' }],
    txid: '0xout',
    height: 103,
    blockHash: 'a103',
    fee: 9n,
    createdAtMs: NOW_MS + 3,
  });
  const failure = { code: 'CHAIN_REJECTED', reason: 'reverted' };
  const lost = withdrawalRow(address!, { status: 'failed', failure, createdAtMs: NOW_MS + 4, userRef: 'u' });
  await write(stores, sandbox, [
    ...paid.rows,
    ...orphaned.rows,
    { table: 'withdrawal', row: sent },
    { table: 'withdrawal', row: lost },
  ]);

  const { content, totalElements } = await stores.read.transactions(sandbox, {}, ALL);
  t.is(totalElements, 4);
  t.deepEqual(
    content.map(({ id, direction, confirmations }) => [id, direction, confirmations]),
    [
      [lost.id, 'out', 0],
      [sent.id, 'out', 2],
      [orphaned.deposit.id, 'in', 0],
      [paid.deposit.id, 'in', 5],
    ],
  );
  t.deepEqual(content[3], {
    id: paid.deposit.id,
    direction: 'in',
    kind: null,
    role: null,
    operationId: null,
    chain: 'eth',
    status: 'confirmed',
    txid: transfer.txid,
    outputIndex: -1,
    address: address!.address,
    counterparty: '0xpayer',
    amount: 1000n,
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    userRef: 'u',
    tag: 'x',
    chainTag: null,
    height: 100,
    blockHash: paid.deposit.blockHash,
    confirmations: 5,
    threshold: 12,
    incarnation: 1,
    fee: null,
    failure: null,
    versions: [],
    createdAtMs: NOW_MS + 1,
    updatedAtMs: paid.deposit.updatedAtMs,
  });
  t.like(content[1], {
    txid: '0xout',
    outputIndex: null,
    address: address!.address,
    counterparty: sent.to,
    fee: 9n,
    incarnation: null,
  });
  t.deepEqual(content[0]!.failure, failure);
  const by = async (filter: Parameters<Stores['read']['transactions']>[1]) =>
    (await stores.read.transactions(sandbox, filter, ALL)).content.map(({ id }) => id);
  t.deepEqual(await by({ direction: 'in' }), [orphaned.deposit.id, paid.deposit.id]);
  t.deepEqual(await by({ direction: 'out' }), [lost.id, sent.id]);
  t.deepEqual(await by({ status: 'confirmed' }), [paid.deposit.id]);
  t.deepEqual(await by({ userRef: 'u' }), [lost.id, paid.deposit.id]);
  t.deepEqual(await by({ chain: 'btc' }), []);
  t.deepEqual(await stores.read.transaction(sandbox, sent.id), content[1]!);
  t.deepEqual(await stores.read.transaction(sandbox, paid.deposit.id), content[3]!);
  t.deepEqual(await stores.read.withdrawal(sandbox, sent.id), sent);
  t.is(await stores.read.withdrawal(sandbox, paid.deposit.id), null);
  t.deepEqual(
    (await stores.read.transactions(sandbox, {}, { page: 1, size: 3 })).content.map(({ id }) => id),
    [paid.deposit.id],
  );
});

test('deliveries are listed newest first with their attempts, filtered by endpoint, status, event and time', async (t) => {
  const { live } = await newOrganization(stores);
  const hook = webhookRow(live, { events: ['deposit_detected', 'pool_low'] });
  await write(stores, live, [{ table: 'webhook', row: hook }]);
  const first = publicationRow(live, { createdAtMs: NOW_MS });
  const second = publicationRow(live, { event: 'pool_low', createdAtMs: NOW_MS + 10 });
  await write(stores, live, [{ table: 'publication', row: first }]);
  await write(stores, live, [{ table: 'publication', row: second }]);
  const [due] = await stores.deliveries.claimDue([live], 1, NOW_MS, 1_000, []);
  const attempt = {
    deliveryId: due!.delivery.id,
    attempt: 1,
    statusCode: null,
    durationMs: 15_000,
    error: 'timeout',
    atMs: NOW_MS + 1,
  };
  await stores.deliveries.recordAttempts([
    { ...attempt, accountId: live, next: { status: 'failed', nextAttemptAtMs: NOW_MS + 99, disableEndpoint: false } },
  ]);
  const { content } = await stores.read.deliveries(live, {}, ALL);
  t.deepEqual(content.map(({ eventId }) => eventId).sort(), [second.eventId, first.eventId].sort());
  const by = async (filter: Parameters<Stores['read']['deliveries']>[1]) =>
    (await stores.read.deliveries(live, filter, ALL)).content.map(({ eventId }) => eventId);
  t.deepEqual(await by({ status: 'failed' }), [first.eventId]);
  t.deepEqual(await by({ event: 'pool_low' }), [second.eventId]);
  t.deepEqual(await by({ eventId: first.eventId }), [first.eventId]);
  t.deepEqual(await by({ fromMs: NOW_MS + 10, toMs: NOW_MS + 11 }), [second.eventId]);
  t.deepEqual(await by({ fromMs: NOW_MS, toMs: NOW_MS + 10 }), [first.eventId]);
  t.deepEqual(await by({ webhookId: 'nothing' }), []);
  t.deepEqual(await stores.read.delivery(live, due!.delivery.id), {
    id: due!.delivery.id,
    eventId: first.eventId,
    event: 'deposit_detected',
    webhookId: hook.id,
    url: hook.url,
    replay: 0,
    status: 'failed',
    heldReason: null,
    eventAtMs: NOW_MS,
    nextAttemptAtMs: NOW_MS + 99,
    createdAtMs: NOW_MS,
    attempts: [{ attempt: 1, statusCode: null, durationMs: 15_000, error: 'timeout', atMs: NOW_MS + 1 }],
  });
});

test('spec §5.6: whatever is read, another tenant sees nothing of it', async (t) => {
  const [address] = await issue(ours.live, { userRef: 'secret' });
  const hook = webhookRow(ours.live);
  const paid = depositWrites(address!, 'confirmed');
  const sent = withdrawalRow(address!);
  await write(stores, ours.live, [{ table: 'webhook', row: hook }]);
  await write(stores, ours.live, [...paid.rows, { table: 'withdrawal', row: sent }]);
  await stores.read.saveIdempotent(ours.live, {
    key: 'k',
    method: 'POST',
    path: '/p',
    bodyHash: 'h',
    status: 404,
    body: { code: 'NOT_FOUND' },
  });
  const [delivery] = (await stores.read.deliveries(ours.live, {}, ALL)).content;
  const reads = (id: AccountId): Promise<unknown>[] => [
    stores.read.address(id, address!.id),
    stores.read.addressByText(id, 'eth', address!.address),
    stores.read.transaction(id, paid.deposit.id),
    stores.read.transaction(id, sent.id),
    stores.read.withdrawal(id, sent.id),
    stores.read.webhook(id, hook.id),
    stores.read.delivery(id, delivery!.id),
    stores.read.idempotent(id, 'POST', '/p', 'k'),
  ];
  t.true((await Promise.all(reads(ours.live))).every((found) => found !== null));
  for (const stranger of [theirs.live, theirs.sandbox, ours.sandbox]) {
    t.deepEqual(
      await Promise.all(reads(stranger)),
      Array.from({ length: 8 }, () => null),
    );
    t.is((await stores.read.addresses(stranger, { userRef: 'secret' }, ALL)).totalElements, 0);
    t.deepEqual(await stores.read.webhooks(stranger), []);
  }
  t.deepEqual(
    (await stores.read.webhooks(ours.live)).map(({ id }) => id),
    [hook.id],
  );
});

test('I23 a refusal is kept like an answer; the first one stands until it is a day old', async (t) => {
  const row = {
    key: 'refused',
    method: 'POST',
    path: '/v1/x',
    bodyHash: 'a',
    status: 403,
    body: { code: 'NO_SUBSCRIPTION' },
  };
  await stores.read.saveIdempotent(ours.live, row);
  await stores.read.saveIdempotent(ours.live, { ...row, status: 200 });
  t.deepEqual(await stores.read.idempotent(ours.live, 'POST', '/v1/x', 'refused'), row);
  t.is(await stores.read.idempotent(ours.live, 'PATCH', '/v1/x', 'refused'), null, 'per method and path');
  await database.owner`update idempotency set created_at = now() - interval '2 days' where key = 'refused'`;
  t.is(await stores.read.purgeIdempotent(Date.now() - 86_400_000), 1);
});

test('design 3: what an address read needs of its account comes from the projection, of this account alone', async (t) => {
  const { live, sandbox } = await newOrganization(stores);
  t.deepEqual(await stores.read.retiredIdentities(live), { retired: [] });
  const retired = [{ fingerprint: 'aa'.repeat(8), atMs: NOW_MS, next: { evm: 3 } }];
  const append = await appendOf(stores, live, [], [{ type: 'sandbox_reset' }]);
  t.is((await stores.accounts.append({ ...append, state: { ...append.state, retired } })).kind, 'appended');
  t.deepEqual(await stores.read.retiredIdentities(live), { retired });
  t.deepEqual(await stores.read.retiredIdentities(sandbox), { retired: [] });
  t.deepEqual(await stores.read.retiredIdentities('acc_nobody_live' as AccountId), { retired: [] });
});

test('found F57: the highest counter value in a block is one step of an index, per sender and ledger, among ten thousand', async (t) => {
  const { live } = await newOrganization(stores);
  const [from, other] = (await issue(live, {}, {})) as [AddressRow, AddressRow];
  const nonce = (value: number, more: Parameters<typeof withdrawalRow>[1] = {}): RowWrite => {
    const row = withdrawalRow(from);
    return {
      table: 'withdrawal',
      row: {
        ...row,
        versions: [{ txid: '0x1', signedPayload: '0x', payload: '0x' }],
        unsigned: { ...row.unsigned, replayKey: { kind: 'nonce', value } },
        ...more,
      },
    };
  };
  t.is(await stores.read.usedValue(live, 'eth', from.address), null);
  await write(stores, live, [
    nonce(9, { status: 'confirmed', height: 70 }),
    nonce(10, { status: 'failed', height: 71 }),
    nonce(11, { status: 'failed' }),
    nonce(12, { status: 'signing' }),
    nonce(99, { from: other.address, status: 'confirmed', height: 72 }),
    nonce(98, { ledger: 'bsc', chain: 'bsc', status: 'confirmed', height: 72 }),
  ]);
  t.deepEqual(await stores.read.usedValue(live, 'eth', from.address), { value: '10', height: 71 });
  t.is(await stores.read.usedValue(theirs.live, 'eth', from.address), null);
  await database.owner`insert into withdrawal (account_id, id, ledger, chain, from_address, to_address, amount, decimals, token_symbol, status, unsigned, versions, height, created_at, updated_at)
    select account_id, 'txn_' || n, ledger, chain, from_address, to_address, amount, decimals, token_symbol, status,
           jsonb_set(unsigned, '{replayKey,value}', to_jsonb(n)), versions, height, created_at, updated_at
      from withdrawal, generate_series(1000, 10999) n where account_id = ${live} and height = 70`;
  await database.owner`analyze withdrawal`;
  t.deepEqual(await stores.read.usedValue(live, 'eth', from.address), { value: '10999', height: 70 });
  const plan = await database.owner<{ 'QUERY PLAN': string }[]>`explain (analyze, costs off, timing off)
    select unsigned -> 'replayKey' ->> 'value' as value, height from withdrawal
     where account_id = ${live} and ledger = 'eth' and from_address = ${from.address}
       and height is not null and unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence')
     order by (unsigned -> 'replayKey' ->> 'value')::numeric desc limit 1`;
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  t.regex(text, /withdrawal_used_value/);
  t.notRegex(text, /Sort|Seq Scan/);
});

test('found F57: only the answer that tells of the dead one is forgotten', async (t) => {
  const row = { key: 'built', method: 'POST', path: '/v1/x', bodyHash: 'a', status: 201, body: { id: 'txn_new' } };
  await stores.read.saveIdempotent(ours.live, row);
  await stores.read.forgetIdempotent(ours.live, row, 'txn_dead');
  await stores.read.forgetIdempotent(theirs.live, row, 'txn_new');
  t.deepEqual(await stores.read.idempotent(ours.live, 'POST', '/v1/x', 'built'), row);
  await stores.read.forgetIdempotent(ours.live, row, 'txn_new');
  t.is(await stores.read.idempotent(ours.live, 'POST', '/v1/x', 'built'), null);
});
