/** What the account decides about its wipe. Console A48, A49. */
import test from 'ava';
import { WIPE_DELAY_MS } from '../../../actors/wipe/decide.ts';
import { pathOf } from '../../../actors/edge-link/retired-identities.ts';
import {
  commands,
  enrolled,
  IDENTITY,
  NOW_MS,
  OTHER_IDENTITY,
  pushedKey,
  pushedPool,
  TestAccount,
} from '../../support/account.ts';
import { webhookRow } from '../../support/store-rows.ts';

const SCHEDULE = { type: 'schedule_wipe', id: 'wip_1', byUser: 'usr_1' } as const;

const wiped = (account: TestAccount): TestAccount => {
  account.accept(SCHEDULE);
  account.nowMs = NOW_MS + WIPE_DELAY_MS;
  account.accept({ type: 'close_for_wipe' });
  account.accept({ type: 'wipe_account' });
  return account;
};

test('console A48: a wipe is due 72 hours later and not before, and once at a time', (t) => {
  const account = enrolled();
  t.deepEqual(account.accept(SCHEDULE).reply, { id: 'wip_1', forMs: NOW_MS + 72 * 3_600_000 });
  t.like(account.refused({ ...SCHEDULE, id: 'wip_2' }), {
    code: 'CONFLICT',
    details: { reason: 'scheduled', wipeId: 'wip_1' },
  });
  account.nowMs = NOW_MS + WIPE_DELAY_MS - 1;
  t.like(account.refused({ type: 'close_for_wipe' }), { code: 'CONFLICT', details: { reason: 'not_due' } });
  t.like(account.refused({ type: 'wipe_account' }), { code: 'CONFLICT', details: { reason: 'not_due' } });
  t.like(account.refused({ type: 'end_wipe' }), { code: 'CONFLICT', details: { reason: 'not_running' } });
  account.accept(commands.createAddress());
  account.accept({ type: 'cancel_wipe' });
  t.is(account.state.wipe, null);
  t.like(account.refused({ type: 'cancel_wipe' }), { code: 'NOT_FOUND' });
  account.accept({ ...SCHEDULE, id: 'wip_2' });
});

test('console A48: open withdrawals and a pending rotation refuse it, at its time withdrawals hold it up', (t) => {
  const account = enrolled();
  account.state = { ...account.state, withdrawals: { txn_1: 1 } };
  const open = { code: 'CONFLICT', details: { reason: 'open_withdrawals', count: 1, transactionId: 'txn_1' } };
  t.like(account.refused(SCHEDULE), open);
  account.state = { ...account.state, withdrawals: {} };
  const rotating = enrolled();
  rotating.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] }));
  t.like(rotating.refused(SCHEDULE), {
    code: 'CONFLICT',
    details: { reason: 'rotation_pending', rotationId: 'rot_1' },
  });

  account.accept(SCHEDULE);
  account.nowMs = NOW_MS + WIPE_DELAY_MS;
  account.accept({ type: 'close_for_wipe' });
  account.state = { ...account.state, withdrawals: { txn_1: 1 } };
  t.like(account.refused({ type: 'wipe_account' }), open);
  t.like(account.refused(commands.createAddress()), {
    code: 'ACCOUNT_SUSPENDED',
    details: { reason: 'wipe', wipeId: 'wip_1' },
  });
  account.accept({ type: 'cancel_wipe' });
  account.accept(commands.createAddress());
});

test('console A49: the account forgets its edge, sources, pools, endpoints, wallets and policies; indexes go on', (t) => {
  const account = enrolled({}, { keys: [pushedKey('evm')], pools: [pushedPool('sol', 5)] });
  account.accept(commands.createAddress());
  account.accept(commands.createAddress());
  account.accept({ type: 'create_webhook', row: webhookRow(account.state.accountId) });
  account.accept({
    type: 'create_funding_wallet',
    wallet: { id: 'fwl_1', chain: 'eth', label: 'private', lowBalance: null },
  });
  wiped(account);
  t.like(account.state, {
    enrolment: null,
    rotation: null,
    keySources: {},
    webhooks: [],
    webhookSeals: {},
    treasuryWallets: [],
    fundingWallets: [],
    sweepPolicies: [],
    bridgePolicies: [],
    activeAddresses: 0,
    indexes: { evm: 2 },
    wipe: { id: 'wip_1', status: 'running' },
  });
  t.is(account.state.plan.paymentsActive, false, 'links take nothing until payments are on again');
  t.deepEqual(account.state.pools.sol, {
    ...account.state.pools.sol!,
    ...{ base: 0, next: 0, size: 0, capacity: 0, gasTank: '' },
  });
  t.like(account.refused({ type: 'cancel_wipe' }), { code: 'CONFLICT', details: { reason: 'running' } });
  t.like(account.refused(commands.enrol()), { code: 'ACCOUNT_SUSPENDED', details: { reason: 'wipe' } });
  t.false(JSON.stringify(account.state).includes('xpub'), 'no extended key is left');

  account.accept({ type: 'end_wipe' });
  account.accept(commands.enrol({ pools: [pushedPool('sol', 5)] }));
  t.like(account.accept(commands.createAddress()).reply, { index: 2 }, 'the same phrase: no address comes twice');
  t.deepEqual(account.folded(), account.state);
});

test('console A49: addresses of before are those of a retired identity, until the same phrase comes again', (t) => {
  const account = enrolled();
  const { reply: row } = account.accept(commands.createAddress());
  wiped(account);
  account.accept({ type: 'end_wipe' });
  t.regex(pathOf(account.state, row), /^\[[0-9a-f]{16}\//);
  const other = { publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] };
  const again = enrolled({ state: structuredClone(account.state) }, { publicKey: IDENTITY });
  t.is(pathOf(again.state, row), row.derivationPath);
  account.accept(commands.enrol(other));
  t.regex(pathOf(account.state, row), /^\[[0-9a-f]{16}\//);
});

test('console A49: a rotation, or another wipe, ends what the same phrase had brought back: its addresses are nobody’s of today’s edge', (t) => {
  const account = enrolled();
  const { reply: row } = account.accept(commands.createAddress());
  wiped(account);
  account.accept({ type: 'end_wipe' });
  account.accept(commands.enrol());
  t.is(pathOf(account.state, row), row.derivationPath);
  const other = { publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] };
  const [rotated, again] = [0, 1].map(() => new TestAccount({ state: structuredClone(account.state) })) as [
    TestAccount,
    TestAccount,
  ];
  rotated.accept(commands.enrol(other));
  const rotationId = rotated.state.rotation!.id;
  const addressIds = Array.from({ length: 20 }, (_, n) => `adr_${n}`);
  rotated.accept({ type: 'decide_rotation', rotationId, decision: 'approve', byUser: 'usr_1', addressIds });
  t.regex(pathOf(rotated.state, row), /^\[[0-9a-f]{16}\//);
  again.accept({ ...SCHEDULE, id: 'wip_2' });
  again.nowMs += WIPE_DELAY_MS;
  again.accept({ type: 'close_for_wipe' });
  again.accept({ type: 'wipe_account' });
  again.accept({ type: 'end_wipe' });
  again.accept(commands.enrol(other));
  t.regex(pathOf(again.state, row), /^\[[0-9a-f]{16}\//);
});
