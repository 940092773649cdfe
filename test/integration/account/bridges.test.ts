/** Bridge transfers on the real schema: what the tables refuse. */
import test, { type ExecutionContext } from 'ava';
import { moved, transferWrite } from '../../../actors/bridge/moves.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { BridgeTransferRow } from '../../../model/rows/bridge.ts';
import { AppendRefused } from '../../../persistence/postgres/grouped-append.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { bridgeTransferRow } from '../../support/bridge-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { addressRow, appendOf, newOrganization, openStores, withdrawalRow, write } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

/** What the tables say against a write: their constraint, or the refusal that a caller of the account gets. */
async function refused(t: ExecutionContext, said: string, accountId: AccountId, rows: RowWrite[]): Promise<void> {
  const outcome = await stores.accounts
    .append(await appendOf(stores, accountId, rows))
    .catch((error: unknown) => error);
  if (outcome instanceof AppendRefused) t.is(outcome.constraint, said);
  else t.like(outcome, { kind: 'refused', refusal: { code: 'CONFLICT', details: { reason: said } } });
}

const at = (row: BridgeTransferRow, ...states: BridgeTransferRow['state'][]): BridgeTransferRow =>
  states.reduce((known, state) => moved(known, state, state === 'FAILED' ? { reason: 'fee' } : {}, Date.now()), row);

test('treasury H5: a transfer is written over what was read, is found again, and is due until it has ended', async (t) => {
  const { live } = await newOrganization(stores),
    row = bridgeTransferRow();
  await write(stores, live, [transferWrite(row)]);
  t.deepEqual(await stores.bridges.transfer(live, row.id), row);
  const due = async () =>
    (await stores.bridges.dueTransfers(Date.now() + 60_000, null, 100)).filter(({ accountId }) => accountId === live);
  t.deepEqual(await due(), [{ accountId: live, id: row.id }]);
  const later = moved(row, 'PLANNED', { lookAtMs: Date.now() + 3_600_000 }, Date.now());
  await write(stores, live, [transferWrite(later)]);
  t.deepEqual(await due(), [], 'it is looked at when its time has come');
  await refused(t, 'changed_meanwhile', live, [transferWrite(at(row, 'APPROVING'))]);
  await write(stores, live, [transferWrite(at(later, 'FAILED'))]);
  const { content } = await stores.bridges.transfers(live, { policyId: row.policyId }, { page: 0, size: 20 });
  t.deepEqual(
    content.map(({ id, state }) => [id, state]),
    [[row.id, 'FAILED']],
  );
});

test('treasury H5: after a burn in a block nothing goes back, fails, or burns again, whatever writes', async (t) => {
  const { live } = await newOrganization(stores),
    row = bridgeTransferRow();
  const burnt = moved(at(row, 'APPROVING', 'BURNING'), 'ATTESTING', { message: '0xaa' }, Date.now());
  await write(stores, live, [transferWrite(row)]);
  await write(stores, live, [transferWrite(at(row, 'APPROVING'))]);
  await write(stores, live, [transferWrite(at(row, 'APPROVING', 'BURNING'))]);
  await write(stores, live, [transferWrite(burnt)]);
  for (const back of ['PLANNED', 'APPROVING', 'BURNING', 'FAILED'] as const)
    await refused(t, 'bridge_transfer_forward', live, [transferWrite(at(burnt, back))]);
  const next = at(burnt, 'ATTESTING');
  await refused(t, 'bridge_transfer_forward', live, [transferWrite({ ...next, message: '0xbb' })]);
  const minted = moved(burnt, 'MINTING', { mintId: newId('txn', Date.now()) }, Date.now());
  await write(stores, live, [transferWrite(minted)]);
  const done = moved(minted, 'COMPLETED', { received: row.amount }, Date.now());
  await write(stores, live, [transferWrite(done)]);
  await refused(t, 'bridge_transfer_forward', live, [transferWrite({ ...at(done, 'MINTING'), endedAtMs: null })]);
});

test('treasury H5: the terms of a transfer are fixed', async (t) => {
  const { live } = await newOrganization(stores),
    row = bridgeTransferRow();
  await write(stores, live, [transferWrite(row)]);
  for (const more of [
    { amount: 2_000n },
    { recipient: row.source },
    { burnId: newId('txn', 1) },
    { toChain: 'avax' as const },
  ]) {
    const change = { ...at(row, 'APPROVING'), ...more };
    const outcome = await stores.accounts
      .append(await appendOf(stores, live, [transferWrite(change)]))
      .catch(() => 'refused');
    const kept = await stores.bridges.transfer(live, row.id);
    t.like(
      kept,
      { amount: row.amount, recipient: row.recipient, burnId: row.burnId, toChain: row.toChain },
      `${outcome}`,
    );
    if (kept!.version > 1) return t.pass('what is fixed is not written');
  }
});

test('treasury H5: an approval is set, not added, so that one transfer at a time spends of a treasury', async (t) => {
  const { live } = await newOrganization(stores),
    [one, other] = [bridgeTransferRow(), bridgeTransferRow()];
  await write(stores, live, [transferWrite(one), transferWrite(other)]);
  await write(stores, live, [transferWrite(at(one, 'APPROVING'))]);
  await refused(t, 'changed_meanwhile', live, [transferWrite(at(other, 'APPROVING'))]);
  await write(stores, live, [transferWrite(at(one, 'APPROVING', 'BURNING'))]);
  await refused(t, 'changed_meanwhile', live, [transferWrite(at(other, 'APPROVING'))]);
  await write(stores, live, [transferWrite(at(one, 'APPROVING', 'BURNING', 'FAILED'))]);
  await write(stores, live, [transferWrite(at(other, 'APPROVING'))]);
  t.is((await stores.bridges.transfer(live, other.id))!.state, 'APPROVING');
});

test('found F60, treasury H5: while its burn may land a transfer does not fail, whatever a decision had read; what has ended says what it said', async (t) => {
  const { live } = await newOrganization(stores),
    row = bridgeTransferRow();
  await write(stores, live, [transferWrite(row)]);
  await write(stores, live, [transferWrite(at(row, 'APPROVING'))]);
  await write(stores, live, [transferWrite(at(row, 'APPROVING', 'BURNING'))]);
  const signed = { rawPayload: '0x02', signedPayload: '0x02', txid: '0xb0', amount: '1' },
    burn = withdrawalRow(addressRow(live), { id: row.burnId, kind: 'sweep', versions: [signed as never], amount: 1n }),
    failed = at(row, 'APPROVING', 'BURNING', 'FAILED');
  await write(stores, live, [{ table: 'withdrawal', row: { ...burn, status: 'failed', txid: '0xb0' } }]);
  // Every node refused it, which proves nothing: it may land.
  const watched = { ...burn, versions: [{ ...burn.versions[0]!, watched: true as const }] };
  await write(stores, live, [{ table: 'withdrawal', row: { ...watched, status: 'failed', txid: '0xb0' } }]);
  await refused(t, 'changed_meanwhile', live, [transferWrite(failed)]);
  // It was refused, and landed all the same, between the look and the write.
  for (const status of ['signing', 'broadcast', 'confirming', 'confirmed'] as const) {
    await write(stores, live, [{ table: 'withdrawal', row: { ...burn, status, txid: '0xb0' } }]);
    await refused(t, 'changed_meanwhile', live, [transferWrite(failed)]);
  }
  t.is((await stores.bridges.transfer(live, row.id))!.state, 'BURNING');
  const attesting = moved(at(row, 'APPROVING', 'BURNING'), 'ATTESTING', { message: '0xaa' }, Date.now());
  await write(stores, live, [transferWrite(attesting)]);
  const done = moved(attesting, 'COMPLETED', { received: row.amount }, Date.now());
  await write(stores, live, [transferWrite(done)]);
  for (const later of [{ received: row.amount - 1n }, { mintId: newId('txn', 1) }, { endedAtMs: Date.now() + 1 }])
    await refused(t, 'bridge_transfer_forward', live, [
      transferWrite({ ...done, ...later, version: done.version + 1 }),
    ]);
});

test('found F56: what a node whose clock was days ahead put off is looked at within the hour', async (t) => {
  const { live } = await newOrganization(stores),
    row = bridgeTransferRow({ lookAtMs: Date.now() + 3 * 86_400_000 });
  await write(stores, live, [transferWrite(row)]);
  const due = await stores.bridges.dueTransfers(Date.now() + 7_200_000, null, 1_000);
  t.true(due.some(({ id }) => id === row.id));
});
