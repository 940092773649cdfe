/** Sweeps on the real schema: what can be swept follows from the books, and what the tables refuse. */
import test, { type ExecutionContext } from 'ava';
import { jobWrite, moved, operationWrite } from '../../../actors/sweep/moves.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import { AppendRefused } from '../../../persistence/postgres/grouped-append.ts';
import { constraintOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { SweepOperationRow, SweepPolicyRow } from '../../../model/rows/sweep.ts';
import { newId, newUuid } from '../../../protocol/node/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  appendOf,
  depositWrites,
  newOrganization,
  openStores,
  withdrawalRow,
  write,
} from '../../support/store-rows.ts';
import { sweepJobRow, sweepOperationRow } from '../../support/sweep-rows.ts';

let database: TestDatabase;
let stores: Stores;

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const NATIVE = { chain: 'eth', token: null } as const;
const held = async (accountId: AccountId) =>
  (await stores.sweeps.candidates(accountId, NATIVE, -(10n ** 30n), 0, 100)).map(({ credited }) => credited);

const answerOf = async (accountId: AccountId, rows: RowWrite[]) =>
  stores.accounts.append(await appendOf(stores, accountId, rows));

async function refused(t: ExecutionContext, constraint: string, accountId: AccountId, rows: RowWrite[]): Promise<void> {
  const outcome = await stores.accounts
    .append(await appendOf(stores, accountId, rows))
    .catch((error: unknown) => error);
  t.is(outcome instanceof AppendRefused ? outcome.constraint : outcome, constraint);
}

test('treasury S5: credits raise what can be swept, confirmed transactions lower it with their fee, reorgs undo both', async (t) => {
  const { live } = await newOrganization(stores),
    address = addressRow(live);
  await write(stores, live, [{ table: 'address', row: address }]);
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 1_000n }).rows);
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 500n }).rows);
  await write(stores, live, depositWrites(address, 'detected', { amount: 7n }).rows);
  t.deepEqual(await held(live), [1_500n], 'what is detected only is not credited');
  await write(stores, live, depositWrites(address, 'reversed', { amount: 300n }).rows);
  t.deepEqual(await held(live), [1_500n]);
  const sent = withdrawalRow(address, { amount: 100n });
  await write(stores, live, [{ table: 'withdrawal', row: sent }]);
  const version = { txid: '0x1', signedPayload: 's', payload: 'p', amount: '100' };
  const out = { ...sent, txid: '0x1', versions: [version], status: 'broadcast' as const };
  await write(stores, live, [{ table: 'withdrawal', row: out }]);
  t.deepEqual(await held(live), [1_500n]);
  const landed = { ...out, status: 'confirmed' as const, height: 5, blockHash: '0xb', fee: 3n };
  await write(stores, live, [{ table: 'withdrawal', row: landed }]);
  t.deepEqual(await held(live), [1_397n]);
  await write(stores, live, [{ table: 'withdrawal', row: out }]);
  t.deepEqual(await held(live), [1_500n], 'a reorg gives it back');
});

test('L30, M28, treasury S5: a fee that the tank paid along lowers nothing on the address, and the audit counts it to nobody there', async (t) => {
  for (const named of ['feePayer', 'feeSource']) {
    const { live } = await newOrganization(stores),
      address = addressRow(live);
    await write(stores, live, [{ table: 'address', row: address }]);
    await write(stores, live, depositWrites(address, 'confirmed', { amount: 1_000n }).rows);
    for (const [payer, left] of [
      ['the tank', 900n],
      [address.address, 797n],
    ] as const) {
      const sent = withdrawalRow(address, { amount: 100n, kind: 'sweep' });
      const row = { ...sent, unsigned: { ...sent.unsigned, fee: { ...sent.unsigned.fee, [named]: payer } } };
      const txid = `${named} ${payer} ${address.id}`,
        versions = [{ txid, signedPayload: 's', payload: 'p', amount: '100' }];
      const out = { ...row, txid, versions, status: 'broadcast' as const };
      const landed = { ...out, status: 'confirmed' as const, height: 5, blockHash: '0xb', fee: 3n };
      await write(stores, live, [{ table: 'withdrawal', row }]);
      await write(stores, live, [{ table: 'withdrawal', row: out }]);
      await write(stores, live, [{ table: 'withdrawal', row: landed }]);
      t.deepEqual(await held(live), [left], `${named} ${payer}`);
    }
    const rows = await database.owner<{ fee: string }[]>`
      select fee::text from audit_rows(${withdrawalRow(address).ledger}, 'sent', ${address.address}, 0, 10, 10)`;
    t.deepEqual(rows.map(({ fee }) => fee).toSorted(), ['0', '3']);
  }
});

test('R28, treasury S5, S12: of a token whose issuer keeps a share all that left is swept no more, and the audit counts it as sent', async (t) => {
  const { live } = await newOrganization(stores),
    address = addressRow(live);
  const tokenContract = '0xtoken',
    ASSET = { chain: 'eth', token: tokenContract } as const;
  const can = async () => (await stores.sweeps.candidates(live, ASSET, -(10n ** 30n), 0, 1))[0]!.credited;
  await write(stores, live, [{ table: 'address', row: address }]);
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 1_000n, tokenContract }).rows);
  const sent = withdrawalRow(address, { amount: 900n, tokenContract, kind: 'sweep' });
  const version = { txid: 'A1', signedPayload: 's', payload: 'p', amount: '900' };
  const out = { ...sent, txid: 'A1', versions: [version], status: 'broadcast' as const };
  const landed = {
    ...out,
    versions: [{ ...version, left: '990' }],
    status: 'confirmed' as const,
    height: 5,
    blockHash: '0xb',
    fee: 3n,
  };
  const row = (one: typeof sent) => write(stores, live, [{ table: 'withdrawal', row: one }]);
  const audited = async () => {
    const rows = await database.owner<{ amount: string }[]>`
      select amount::text from audit_rows(${sent.ledger}, 'sent', ${address.address}, 0, 10, 10)`;
    return rows.map(({ amount }) => amount);
  };
  await row(sent);
  await row(out);
  await row(landed);
  t.is(await can(), 10n, 'no phantom of what the issuer kept');
  t.deepEqual(await audited(), ['990']);
  await row({ ...landed, status: 'broadcast', height: null, blockHash: null, fee: null } as never);
  t.is(await can(), 1_000n, 'a reorg gives all of it back');
});

test('treasury S21: a withdrawal that is on its way, or was built lately, keeps sweeps of its address off; a sweep of it does not', async (t) => {
  const { live } = await newOrganization(stores),
    address = addressRow(live);
  await write(stores, live, [{ table: 'address', row: address }]);
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 1_000n }).rows);
  const paying = async () => {
    const [candidate] = await stores.sweeps.candidates(live, NATIVE, 1n, 0, 1);
    t.is(await stores.sweeps.isPaying(live, 'eth', address.address), candidate!.isPaying);
    return candidate!.isPaying;
  };
  t.false(await paying());
  await write(stores, live, [{ table: 'withdrawal', row: withdrawalRow(address, { kind: 'sweep' }) }]);
  t.false(await paying(), 'a sweep');
  const sent = withdrawalRow(address, { amount: 1n, updatedAtMs: Date.now() });
  await write(stores, live, [{ table: 'withdrawal', row: sent }]);
  t.true(await paying(), 'built');
  await database.owner`update withdrawal set updated_at = now() - interval '601 seconds' where id = ${sent.id}`;
  t.false(await paying(), 'built long ago');
  const version = { txid: '0x21', signedPayload: 's', payload: 'p', amount: '1' };
  await write(stores, live, [
    {
      table: 'withdrawal',
      row: { ...sent, txid: '0x21', versions: [version], status: 'broadcast', updatedAtMs: Date.now() },
    },
  ]);
  t.true(await paying(), 'on its way');
  t.false(await stores.sweeps.isPaying(live, 'tron', address.address), 'of another chain');
});

test('treasury W9: a tank keeps what open operations of its chain were promised, until that has left it in a block', async (t) => {
  const { live } = await newOrganization(stores),
    promised = () => stores.sweeps.promised(live, 'eth');
  t.is(await promised(), 0n);
  const job = sweepJobRow(),
    tank = addressRow(live),
    rows = [5n, 50n, 500n].map((each) =>
      sweepOperationRow(job.id, { promised: each, address: addressRow(live).address }),
    );
  const [funded, paidAlong, other] = rows as [SweepOperationRow, SweepOperationRow, SweepOperationRow];
  await write(stores, live, [jobWrite(job), ...rows.map(operationWrite), { table: 'address', row: tank }]);
  t.is(await promised(), 555n);
  t.is(await stores.sweeps.promised(live, 'bsc'), 0n);
  const landed = async (id: string) => {
    const version = { txid: id, signedPayload: 's', payload: 'p', amount: '1' };
    const row = withdrawalRow(tank, { id, kind: 'sweep', amount: 1n });
    const out = { ...row, txid: id, versions: [version], status: 'broadcast' as const };
    await write(stores, live, [{ table: 'withdrawal', row }]);
    await write(stores, live, [{ table: 'withdrawal', row: out }]);
    t.is(await promised(), before, 'on its way');
    const block = { status: 'confirming' as const, height: 5, blockHash: '0xb', fee: 1n };
    await write(stores, live, [{ table: 'withdrawal', row: { ...out, ...block } }]);
  };
  const funding = moved(funded, 'FUNDING', { funding: 4n }, Date.now());
  await write(stores, live, [operationWrite(funding)]);
  let before = await promised();
  await landed(funded.fundId);
  t.is(await promised(), 550n, 'the gas has left');
  // More of it was needed.
  const again = { fundId: newId('txn', Date.now()), firstFundId: funded.fundId, funding: 6n, promised: 3n };
  await write(stores, live, [operationWrite(moved(funding, 'FUNDING', again, Date.now()))]);
  t.is(await promised(), 553n);
  t.like(await stores.sweeps.openOperation(live, 'eth', funded.address), again);
  await write(stores, live, [operationWrite(moved(paidAlong, 'SIGNING', {}, Date.now()))]);
  before = await promised();
  await landed(paidAlong.sweepId);
  t.is(await promised(), 503n, 'the fee that it pays along has left');
  const ended = moved(other, 'FAILED', { reason: 'dead' }, Date.now());
  await write(stores, live, [operationWrite(ended)]);
  t.is(await promised(), 3n);
  // Y7: what it cost may be known later, once.
  const cost = moved(ended, 'FAILED', { paid: 9n }, Date.now());
  await write(stores, live, [operationWrite(cost)]);
  await refused(t, 'sweep_operation_ended', live, [operationWrite(moved(cost, 'FAILED', { paid: 10n }, Date.now()))]);
});

test('treasury S21: of a caller’s build and a sweep that did not see each other the second is refused, whichever it is', async (t) => {
  const { live } = await newOrganization(stores),
    address = addressRow(live),
    job = sweepJobRow(),
    planned = sweepOperationRow(job.id, { address: address.address });
  await write(stores, live, [{ table: 'address', row: address }, jobWrite(job), operationWrite(planned)]);
  const now = Date.now(),
    built = withdrawalRow(address, { updatedAtMs: now, createdAtMs: now });
  const signing = moved(planned, 'SIGNING', {}, Date.now());
  const ofSweep = (id: string) => withdrawalRow(address, { id, kind: 'sweep' });
  await write(stores, live, [{ table: 'withdrawal', row: built }]);
  t.is(
    (await answerOf(live, [operationWrite(signing), { table: 'withdrawal', row: ofSweep('txn_a') }])).kind,
    'refused',
  );
  await write(stores, live, [{ table: 'withdrawal', row: { ...built, status: 'expired' } }]);
  await write(stores, live, [operationWrite(signing), { table: 'withdrawal', row: ofSweep('txn_b') }]);
  const late = { ...built, id: newId('txn', Date.now()) };
  t.like(await answerOf(live, [{ table: 'withdrawal', row: late }]), {
    kind: 'refused',
    refusal: { code: 'CONFLICT', details: { reason: 'changed_meanwhile' } },
  });
  const failed = moved(signing, 'FAILED', { reason: 'dead' }, Date.now());
  await write(stores, live, [operationWrite(failed)]);
  await write(stores, live, [{ table: 'withdrawal', row: late }]);
});

test('T15, treasury S20: a TRON payload that nodes refused keeps sweeps off both of its ends until it expires', async (t) => {
  const { live } = await newOrganization(stores),
    address = addressRow(live, { chain: 'tron', family: 'tron' });
  await write(stores, live, [{ table: 'address', row: address }]);
  for (const [left, isPaying] of [
    [60_000, true],
    [-1, false],
  ] as const) {
    const sent = withdrawalRow(address, { kind: 'sweep', createdAtMs: Date.now(), updatedAtMs: Date.now() });
    const replayKey = { kind: 'expiry', value: String(Date.now() + left) } as const;
    const row = { ...sent, chain: 'tron' as const, unsigned: { ...sent.unsigned, replayKey } };
    const versions = [{ txid: sent.id, signedPayload: 's', payload: 'p', amount: String(sent.amount) }];
    const failed = { status: 'failed' as const, txid: sent.id, versions, failure: { code: 'X', reason: 'y' } };
    await write(stores, live, [{ table: 'withdrawal', row }]);
    await write(stores, live, [{ table: 'withdrawal', row: { ...row, ...failed } as never }]);
    t.is(await stores.sweeps.isPaying(live, 'tron', address.address), isPaying);
    t.is(await stores.sweeps.isPaying(live, 'tron', row.to), isPaying);
    await database.owner`update withdrawal set unsigned = jsonb_set(unsigned, '{replayKey,value}', '"0"') where id = ${sent.id}`;
  }
});

test('treasury S9: candidates are the largest first, those below the floor are left out, and only of their own account', async (t) => {
  const { live } = await newOrganization(stores),
    { live: other } = await newOrganization(stores);
  for (const amount of [5n, 50n, 20n, 20n, 1n]) {
    const address = addressRow(live);
    await write(stores, live, [{ table: 'address', row: address }]);
    await write(stores, live, depositWrites(address, 'confirmed', { amount }).rows);
  }
  const amounts = async (from: number, most: number) =>
    (await stores.sweeps.candidates(live, NATIVE, 5n, from, most)).map(({ credited }) => credited);
  t.deepEqual(await amounts(0, 10), [50n, 20n, 20n, 5n]);
  t.deepEqual(await amounts(1, 1), [20n]);
  // Behind each of them, whatever moves between two looks: none twice, none left out.
  const all = await stores.sweeps.candidates(live, NATIVE, 5n, 0, 10);
  for (const [at, { credited, address }] of all.entries())
    t.deepEqual(
      [...(await stores.sweeps.candidates(live, NATIVE, 5n, { amount: String(credited), address }, 10))],
      [...all].slice(at + 1),
    );
  t.deepEqual(await held(other), []);
});

test('treasury S7, S15, S17, S18: one open job of a policy, one open operation of an address, no write over a row that moved', async (t) => {
  const { live } = await newOrganization(stores),
    job = sweepJobRow(),
    operation = sweepOperationRow(job.id);
  await write(stores, live, [jobWrite(job), operationWrite(operation)]);
  const late = { kind: 'refused', refusal: { code: 'CONFLICT', details: { reason: 'changed_meanwhile' } } };
  t.like(await answerOf(live, [jobWrite(sweepJobRow({ policyId: job.policyId }))]), late);
  const elsewhere = sweepJobRow();
  t.like(await answerOf(live, [jobWrite(elsewhere), operationWrite(sweepOperationRow(elsewhere.id))]), late);
  t.is(await stores.sweeps.job(live, elsewhere.id), null, 'nothing of it was written');
  const funding = moved(operation, 'FUNDING', { funding: 5n }, Date.now());
  await write(stores, live, [operationWrite(funding)]);
  t.like(await answerOf(live, [operationWrite(moved(operation, 'SIGNING', {}, Date.now()))]), late);
  t.like(await answerOf(live, [jobWrite({ ...job, version: 3 })]), late);
  const failed = moved(funding, 'FAILED', { reason: 'dead' }, Date.now());
  await write(stores, live, [operationWrite(failed)]);
  t.is(await stores.sweeps.openOperation(live, 'eth', operation.address), null, 'it ended: the address is free');
  await refused(t, 'sweep_operation_ended', live, [
    operationWrite({ ...moved(failed, 'PLANNED', { reason: null }, Date.now()), attempt: 2 }),
  ]);
  const fresh = { attempt: 2, fundId: newId('txn', Date.now()), sweepId: newId('txn', Date.now()) };
  const retried = { ...moved(failed, 'PLANNED', { reason: null }, Date.now()), ...fresh };
  await write(stores, live, [operationWrite(retried)]);
  t.deepEqual(await stores.sweeps.openOperation(live, 'eth', operation.address), retried);
  const error = await t.throwsAsync(
    async () => database.owner`update sweep_job set settings = '{"dustFloor":"9"}' where id = ${job.id}`,
  );
  t.is(constraintOf(error), 'sweep_job_immutable');
  const open = await stores.sweeps.openJobs(null, 1_000);
  t.true(open.some(({ accountId, id }) => accountId === live && id === job.id));
});

test('treasury S12, S15, S22: a sweep that a reorg takes back after its job ended keeps others off its address, and its job is looked at until its operation has followed', async (t) => {
  const { live } = await newOrganization(stores),
    address = addressRow(live),
    job = sweepJobRow(),
    operation = sweepOperationRow(job.id, { address: address.address });
  const put = (...rows: RowWrite[]) => write(stores, live, rows);
  await put({ table: 'address', row: address });
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 1_000n }).rows);
  await put(jobWrite(job), operationWrite(operation));
  const sent = withdrawalRow(address, { id: operation.sweepId, kind: 'sweep', amount: 990n });
  const version = { txid: '0x22', signedPayload: 's', payload: 'p', amount: '990' };
  const out = { ...sent, txid: '0x22', versions: [version], status: 'broadcast' as const };
  const landed = { ...out, status: 'confirmed' as const, height: 5, blockHash: '0xb', fee: 10n };
  await put({ table: 'withdrawal', row: sent });
  await put({ table: 'withdrawal', row: out });
  await put({ table: 'withdrawal', row: landed });
  const broadcast = moved(moved(operation, 'SIGNING', {}, Date.now()), 'BROADCAST', {}, Date.now()),
    confirmed = moved(broadcast, 'CONFIRMED', { paid: 10n }, Date.now());
  await put(operationWrite(moved(operation, 'SIGNING', {}, Date.now())));
  await put(operationWrite(broadcast));
  await put(operationWrite(confirmed));
  const ended = { ...job, version: 2, state: 'COMPLETED' as const, endedAtMs: Date.now() };
  await put(jobWrite(ended));
  const isLookedAt = async () => (await stores.sweeps.openJobs(null, 1_000)).some(({ id }) => id === job.id);
  const candidate = async () => (await stores.sweeps.candidates(live, NATIVE, 1n, 0, 1))[0];
  t.false(await isLookedAt());
  t.is(await candidate(), undefined, 'all of it is swept');
  await put({ table: 'withdrawal', row: out });
  t.like(await candidate(), { credited: 1_000n, isPaying: true, openOperationId: null });
  t.true(await stores.sweeps.isPaying(live, 'eth', address.address));
  t.true(await isLookedAt());
  const known = (await stores.sweeps.job(live, job.id))!;
  t.like(known, { takenBack: true, state: 'COMPLETED', version: 3 });
  t.like(
    await answerOf(live, [jobWrite({ ...ended, version: 3 })]),
    { kind: 'refused', refusal: { code: 'CONFLICT', details: { reason: 'changed_meanwhile' } } },
    'a decision that read the job before',
  );
  const again = moved(confirmed, 'BROADCAST', { paid: null }, Date.now());
  await put(operationWrite(again));
  t.like(await candidate(), { isPaying: false, openOperationId: operation.id });
  await put({ table: 'withdrawal', row: { ...landed, height: 7, blockHash: '0xc' } });
  await put(operationWrite(moved(again, 'CONFIRMED', { paid: 10n }, Date.now())));
  t.true(await isLookedAt());
  await put(jobWrite({ ...known, version: 4, takenBack: false }));
  t.false(await isLookedAt());
  t.like(await stores.sweeps.job(live, job.id), { takenBack: false, state: 'COMPLETED', endedAtMs: ended.endedAtMs });
  await refused(t, 'sweep_operation_ended', live, [
    operationWrite(
      moved({ ...again, version: again.version + 1 }, 'BROADCAST', { sweepId: newId('txn', Date.now()) }, Date.now()),
    ),
  ]);
});

test('treasury S23: a sweep is never billed, whatever is written', async (t) => {
  const { live } = await newOrganization(stores),
    address = addressRow(live);
  await write(stores, live, [{ table: 'address', row: address }]);
  const sweep = withdrawalRow(address, { kind: 'sweep' });
  await write(stores, live, [{ table: 'withdrawal', row: sweep }]);
  t.is((await stores.read.withdrawal(live, sweep.id))?.kind, 'sweep');
  const billed = (kind: 'sweep' | 'withdrawal'): RowWrite => ({
    table: 'billable',
    withdrawalId: sweep.id,
    kind,
    period: '2026-11',
  });
  await refused(t, 'billable_never_sweep', live, [billed('sweep')]);
  await refused(t, 'billable_of_withdrawal', live, [billed('withdrawal')]);
});

test('treasury S23: a transaction of an operation is listed with kind, role and operation, which never change; a list by kind has those alone', async (t) => {
  const { live } = await newOrganization(stores),
    address = addressRow(live, { userRef: 'u1' });
  const operationId = newId('swo', Date.now()),
    sweep = withdrawalRow(address, { kind: 'sweep', role: 'fund', operationId }),
    before = withdrawalRow(address, { kind: 'sweep', chain: 'base', ledger: 'base' }),
    own = withdrawalRow(address);
  await write(stores, live, [
    { table: 'address', row: address },
    ...[sweep, before, own].map((row) => ({ table: 'withdrawal', row }) as const),
    ...depositWrites(address, 'confirmed').rows,
  ]);
  t.like(await stores.read.withdrawal(live, sweep.id), { kind: 'sweep', role: 'fund', operationId });
  const listed = async (filter: Parameters<typeof stores.read.transactions>[1]) => {
    const { content, totalElements } = await stores.read.transactions(live, filter, { page: 0, size: 20 });
    t.is(totalElements, content.length);
    return content.map(({ id, kind, role, operationId }) => ({ id, kind, role, operationId }));
  };
  const views = {
    sweep: { id: sweep.id, kind: 'sweep', role: 'fund', operationId },
    before: { id: before.id, kind: 'sweep', role: null, operationId: null },
    own: { id: own.id, kind: 'withdrawal', role: null, operationId: null },
  } as const;
  t.deepEqual(await listed({ direction: 'out' }), [views.own, views.before, views.sweep]);
  t.deepEqual(
    (await listed({ direction: 'in' })).map(({ kind, role, operationId }) => [kind, role, operationId]),
    [[null, null, null]],
  );
  t.deepEqual(await listed({ kind: 'sweep' }), [views.before, views.sweep]);
  t.deepEqual(await listed({ kind: 'sweep', chain: 'eth', status: 'built' }), [views.sweep]);
  t.deepEqual(await listed({ kind: 'withdrawal' }), [views.own]);
  t.deepEqual(await listed({ kind: 'withdrawal', direction: 'in' }), []);
  t.like(await stores.read.transaction(live, sweep.id), views.sweep);
  // What is written of it later leaves it as it is; nothing else may change it either.
  const { role: _role, operationId: _operation, ...later } = sweep;
  await write(stores, live, [{ table: 'withdrawal', row: later }]);
  t.like(await stores.read.transaction(live, sweep.id), views.sweep);
  await t.throwsAsync(
    database.admin`update flock.withdrawal set role = 'mint' where account_id = ${live} and id = ${sweep.id}`,
    { message: /withdrawal_immutable/ },
  );
  await refused(t, 'withdrawal_role', live, [
    { table: 'withdrawal', row: withdrawalRow(address, { role: 'fund', operationId }) },
  ]);
});

const MINUTE_MS = 60_000;
const policyRow = (more: Partial<SweepPolicyRow> = {}): SweepPolicyRow => ({
  id: newUuid(Date.now()),
  chain: 'eth',
  tokenContract: '',
  minAmount: null,
  nextRunAtMs: null,
  heldUntilMs: null,
  seen: null,
  again: false,
  fires: true,
  isGone: false,
  ...more,
});
const policyWrite = (row: SweepPolicyRow): RowWrite => ({ table: 'sweep_policies', row, key: row.id });
/** Of an account, how many firings each due policy has, by id. */
async function due(accountId: AccountId, atMs: number, debounceMs = 0): Promise<Map<string, number>> {
  const found = await stores.sweeps.duePolicies(atMs, debounceMs, null, 1_000);
  return new Map(found.filter((one) => one.accountId === accountId).map(({ id, fired }) => [id, fired]));
}

test('treasury S5, S7: an address that reaches the threshold fires its policy once, whatever comes until a plan has seen it', async (t) => {
  const { live } = await newOrganization(stores),
    policy = policyRow({ minAmount: 1_000n }),
    token = policyRow({ minAmount: 1n, tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' }),
    address = addressRow(live),
    soon = () => Date.now() + 1_000;
  await write(stores, live, [{ table: 'address', row: address }, policyWrite(policy), policyWrite(token)]);
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 500n }).rows);
  t.is((await due(live, soon())).size, 0);
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 500n }).rows);
  t.deepEqual(
    [...(await due(live, soon()))],
    [[policy.id, 1]],
    'two of 500 reach 1,000; the token of the chain is another asset',
  );
  t.is((await due(live, soon(), MINUTE_MS)).size, 0, 'SWEEP_DEBOUNCE');
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 1n }).rows);
  t.deepEqual([...(await due(live, soon()))], [[policy.id, 2]]);
  // The plan was made before the second one came: that fires again, once the job has ended.
  const job = sweepJobRow({ policyId: policy.id });
  await write(stores, live, [policyWrite({ ...policy, seen: 1 }), jobWrite(job)]);
  t.is((await due(live, soon())).size, 0, 'a job is open');
  const ended = { version: 2, state: 'COMPLETED', endedAtMs: Date.now() } as const;
  await write(stores, live, [jobWrite({ ...job, ...ended })]);
  t.deepEqual([...(await due(live, soon()))], [[policy.id, 2]]);
  await write(stores, live, [policyWrite({ ...policy, seen: 2 })]);
  t.is((await due(live, soon())).size, 0);
  // Seen more than once, or more than there was, changes nothing.
  await write(stores, live, [policyWrite({ ...policy, seen: 9 }), policyWrite(token)]);
  await write(stores, live, depositWrites(address, 'confirmed', { amount: 1n }).rows);
  t.deepEqual([...(await due(live, soon()))], [[policy.id, 3]]);
  await write(stores, live, [policyWrite({ ...policy, minAmount: null })]);
  t.is((await due(live, soon())).size, 0, 'a policy without a threshold remembers no firing');
  await write(stores, live, [policyWrite({ ...policy, isGone: true })]);
  await write(stores, live, [policyWrite({ ...policyRow(), minAmount: 1n })]);
  t.is((await due(live, soon())).size, 1, 'a new threshold that is reached already fires at once');
});

test('treasury S8, S11: a schedule is due at its time and not while it is held; others stay out, and the longest due is first', async (t) => {
  const { live } = await newOrganization(stores),
    atMs = Date.now() + 10 * MINUTE_MS,
    policy = policyRow({ nextRunAtMs: atMs, chain: 'bsc' }),
    earlier = policyRow({ nextRunAtMs: atMs - MINUTE_MS });
  await write(stores, live, [policyWrite(policy), policyWrite(earlier)]);
  t.deepEqual([...(await due(live, atMs - 1)).keys()], [earlier.id]);
  t.deepEqual([...(await due(live, atMs)).keys()], [earlier.id, policy.id]);
  const [first] = await stores.sweeps.duePolicies(atMs, 0, null, 1);
  t.deepEqual(
    (await stores.sweeps.duePolicies(atMs, 0, first!, 1_000))
      .filter(({ accountId }) => accountId === live)
      .map(({ id }) => id),
    first!.id === earlier.id ? [policy.id] : [earlier.id, policy.id],
    'behind one there is the rest',
  );
  await write(stores, live, [policyWrite({ ...policy, heldUntilMs: atMs + 1 })]);
  t.deepEqual([...(await due(live, atMs)).keys()], [earlier.id]);
  // Found F56: by a node whose clock was days ahead.
  await write(stores, live, [policyWrite({ ...policy, heldUntilMs: atMs + 3 * 86_400_000 })]);
  t.deepEqual([...(await due(live, atMs + 2 * 3_600_000)).keys()], [earlier.id, policy.id]);
  await write(stores, live, [policyWrite({ ...earlier, nextRunAtMs: null, again: true })]);
  t.deepEqual(
    [...(await due(live, Date.now() + 1_000)).keys()],
    [earlier.id],
    'S9: once more, without threshold or time',
  );
});

test('treasury S9: what a full job left fires until a plan has seen it, also where no threshold is and while it is held', async (t) => {
  const { live } = await newOrganization(stores),
    policy = policyRow({ nextRunAtMs: Date.now() + 86_400_000 }),
    soon = () => Date.now() + 1_000;
  await write(stores, live, [policyWrite({ ...policy, again: true })]);
  const [fired] = (await due(live, soon())).values();
  await write(stores, live, [policyWrite({ ...policy, again: true, heldUntilMs: Date.now() - 1 })]);
  t.is((await due(live, soon())).size, 1, 'a wait that is over');
  await write(stores, live, [policyWrite({ ...policy, seen: fired! + 1 })]);
  t.is((await due(live, soon())).size, 0);
  await write(stores, live, [policyWrite({ ...policy, again: true })]);
  await write(stores, live, [policyWrite({ ...policy, nextRunAtMs: null, fires: false })]);
  t.is((await due(live, soon())).size, 0, 'turned off');
});

test('treasury S2: a policy in the place of one whose row a release before left behind takes that place', async (t) => {
  const { live } = await newOrganization(stores),
    left = policyRow({ minAmount: 10n, again: true }),
    policy = policyRow({ minAmount: 10n, again: true });
  await write(stores, live, [policyWrite(left)]);
  await write(stores, live, [policyWrite(policy)]);
  t.deepEqual([...(await due(live, Date.now() + 1_000)).keys()], [policy.id]);
});
