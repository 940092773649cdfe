import test from 'ava';
import {
  commands,
  enrolled,
  IDENTITY,
  keyVector,
  OTHER_IDENTITY,
  pushedKey,
  pushedPool,
  rowsOf,
  TestAccount,
  adr,
} from '../../support/account.ts';

const ids = () => Array.from({ length: 10 }, adr);

test('§3.7 the first sync enrols: identity pinned, keys active, gas tank M/1/0 and treasury M/1/1 derived', (t) => {
  const account = new TestAccount();
  const { reply, events, rows } = account.accept(commands.enrol({ keys: [pushedKey('evm'), pushedKey('btc')] }));
  t.is(reply.outcome, 'enrolled');
  t.deepEqual(
    events.map(({ type }) => type),
    ['edge_enrolled'],
  );
  t.deepEqual(
    rowsOf(rows, 'identities').map(({ row }) => row.publicKey),
    [IDENTITY],
  );
  t.deepEqual(
    rowsOf(rows, 'account_keys').map(({ row }) => [row.family, row.status]),
    [
      ['evm', 'active'],
      ['btc', 'active'],
    ],
  );
  const own = rowsOf(rows, 'address').map(({ row }) => [row.purpose, row.derivationPath, row.address, row.index]);
  const at = (family: 'evm' | 'btc', path: string) =>
    keyVector(family).addresses.find(({ relativePath }) => relativePath === path)!;
  t.deepEqual(own, [
    ['gas_tank', at('evm', '1/0').path, at('evm', '1/0').address, null],
    ['treasury', at('evm', '1/1').path, at('evm', '1/1').address, null],
    ['gas_tank', at('btc', '1/0').path, at('btc', '1/0').address, null],
    ['treasury', at('btc', '1/1').path, at('btc', '1/1').address, null],
  ]);
});

test('§3.1 not_ready becomes ready by the first sync, for the pushed families only', (t) => {
  const account = new TestAccount();
  const { reply } = account.accept(commands.enrol());
  const ready = reply.readiness.filter(({ state }) => state === 'ready').map(({ chain }) => chain);
  t.deepEqual(ready, ['eth', 'bsc', 'polygon', 'avax', 'base']);
  t.is(reply.readiness.find(({ chain }) => chain === 'btc')!.state, 'not_ready');
});

test('§2.8 a rendered extended key shows the first eight and last four characters', (t) => {
  const { xpub } = keyVector('evm');
  const shown = enrolled()
    .accept({ type: 'resume', publicKey: IDENTITY })
    .reply.readiness.find(({ chain }) => chain === 'eth')!.xpub!;
  t.is(shown, `${xpub.slice(0, 8)}…${xpub.slice(-4)}`);
});

test('§3.7 a full sync that registers nothing new is ALREADY_ENROLLED, one with a new family is not', (t) => {
  const account = enrolled();
  t.is(account.refused(commands.enrol()).code, 'ALREADY_ENROLLED');
  const { reply } = account.accept(commands.enrol({ keys: [pushedKey('evm'), pushedKey('tron')] }));
  t.is(reply.outcome, 'keys_added');
  t.is(reply.readiness.find(({ chain }) => chain === 'tron')!.state, 'ready');
});

test('§3.7 resume and resync without an enrolment are RESYNC_REQUIRED; of another identity EDGE_SIGNATURE_INVALID', (t) => {
  for (const type of ['resume', 'resync'] as const) {
    t.is(new TestAccount().refused({ type, publicKey: IDENTITY }).code, 'RESYNC_REQUIRED');
    t.is(enrolled().refused({ type, publicKey: OTHER_IDENTITY }).code, 'EDGE_SIGNATURE_INVALID');
    t.true(enrolled().accept({ type, publicKey: IDENTITY }).reply.readiness.length === 10);
  }
});

test('§7 another extended key of a registered family under the same identity is KEY_SOURCE_MISMATCH, nothing written', (t) => {
  const refusal = enrolled().refused(commands.enrol({ keys: [pushedKey('evm', 1)] }));
  t.is(refusal.code, 'KEY_SOURCE_MISMATCH');
});

test('bad keys are refused: private, pooled family, foreign path, twice, not Base58Check', (t) => {
  const account = new TestAccount(),
    key = pushedKey('evm');
  const code = (keys: ReturnType<typeof pushedKey>[]) => account.refused(commands.enrol({ keys })).code;
  t.is(code([{ ...key, xpub: `xprv${key.xpub.slice(4)}` }]), 'KEY_MATERIAL_REJECTED');
  t.is(code([{ ...key, family: 'sol' }]), 'INVALID_INPUT');
  t.is(code([{ ...key, accountPath: "m/44'/61'/0'" }]), 'INVALID_INPUT');
  t.is(code([key, key]), 'INVALID_INPUT');
  t.is(code([{ ...key, xpub: `${key.xpub.slice(0, -1)}1` }]), 'INVALID_INPUT');
});

test('§5.7 another identity on sync: keys held back, chains quarantined, every endpoint told', (t) => {
  const account = enrolled();
  const { reply, rows } = account.accept(
    commands.enrol({
      publicKey: OTHER_IDENTITY,
      keys: [pushedKey('evm', 1), pushedKey('tron', 1)],
      rotationId: 'rot_2',
    }),
  );
  t.is(reply.outcome, 'rotation_pending');
  t.deepEqual(
    rowsOf(rows, 'account_keys').map(({ row }) => [row.family, row.status]),
    [
      ['evm', 'held'],
      ['tron', 'held'],
    ],
  );
  t.is(rowsOf(rows, 'address').length, 0);
  const [told] = rowsOf(rows, 'publication');
  t.true(told!.row.toAll);
  t.is(told!.row.event, 'identity_rotation_detected');
  const states = Object.fromEntries(reply.readiness.map(({ chain, state }) => [chain, state]));
  t.is(states.eth, 'quarantined');
  t.is(states.tron, 'quarantined');
  t.is(states.xrp, 'not_ready');
});

test('§5.7 while a rotation awaits the owner nothing is registered or signed: IDENTITY_ROTATION_PENDING', (t) => {
  const account = enrolled();
  account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] }));
  for (const publicKey of [IDENTITY, OTHER_IDENTITY]) {
    t.is(account.refused({ type: 'resume', publicKey }).code, 'IDENTITY_ROTATION_PENDING');
    t.is(account.refused(commands.enrol({ publicKey })).code, 'IDENTITY_ROTATION_PENDING');
    t.is(
      account.refused({ type: 'push_pool', publicKey, pool: pushedPool('sol', 2), addressIds: ids() }).code,
      'IDENTITY_ROTATION_PENDING',
    );
  }
  t.is(
    account.refused({ type: 'claim_lease', sessionId: 'ses_a', liveSessions: [] }).code,
    'IDENTITY_ROTATION_PENDING',
  );
  t.like(account.refused(commands.createAddress()), { code: 'CHAIN_NOT_READY', details: { state: 'quarantined' } });
});

test('§3.1 approve pins the new identity and registers the held keys; indexes go on; the old leader leads no more', (t) => {
  const account = enrolled();
  account.accept(commands.createAddress());
  account.accept({ type: 'claim_lease', sessionId: 'ses_a', liveSessions: [] });
  account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)], rotationId: 'rot_2' }));
  t.is(
    account.refused({
      type: 'decide_rotation',
      rotationId: 'rot_x',
      decision: 'approve',
      byUser: 'usr_1',
      addressIds: ids(),
    }).code,
    'NOT_FOUND',
  );
  const { rows, reply } = account.accept({
    type: 'decide_rotation',
    rotationId: 'rot_2',
    decision: 'approve',
    byUser: 'usr_1',
    addressIds: ids(),
  });
  t.deepEqual(
    rowsOf(rows, 'identities').map(({ row }) => row.publicKey),
    [OTHER_IDENTITY],
  );
  t.deepEqual(
    rowsOf(rows, 'account_keys').map(({ row }) => row.status),
    ['retired', 'active'],
  );
  t.is(reply.readiness.find(({ chain }) => chain === 'eth')!.state, 'ready');
  t.is(account.state.lease.holder, null);
  const next = account.accept(commands.createAddress()).reply;
  t.is(next.index, 1);
  t.is(next.address, keyVector('evm', 1).addresses.find(({ relativePath }) => relativePath === '0/1')!.address);
  t.is(account.refused({ type: 'resume', publicKey: IDENTITY }).code, 'EDGE_SIGNATURE_INVALID');
});

test('§3.1 reject keeps the pinned identity and discards the held keys', (t) => {
  const account = enrolled();
  const before = account.state;
  account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)], rotationId: 'rot_2' }));
  const { rows, reply } = account.accept({
    type: 'decide_rotation',
    rotationId: 'rot_2',
    decision: 'reject',
    byUser: 'usr_1',
    addressIds: [],
  });
  t.deepEqual(
    rowsOf(rows, 'account_keys').map(({ row }) => row.status),
    ['retired'],
  );
  t.is(reply.readiness.find(({ chain }) => chain === 'eth')!.state, 'ready');
  t.deepEqual({ ...account.state, version: 0 }, { ...before, version: 0 });
});

test('§3.1 approve empties a pool of the old phrase: not_ready until the new edge has pushed, its indexes are not used again', (t) => {
  const account = enrolled({}, { keys: [pushedKey('evm')], pools: [pushedPool('sol', 4)] });
  account.accept(commands.createAddress({ chain: 'sol', unissued: pushedPool('sol', 4).addresses }));
  account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)], rotationId: 'rot_2' }));
  account.accept({
    type: 'decide_rotation',
    rotationId: 'rot_2',
    decision: 'approve',
    byUser: 'usr_1',
    addressIds: ids(),
  });
  t.like(account.refused(commands.createAddress({ chain: 'sol' })), {
    code: 'CHAIN_NOT_READY',
    details: { state: 'not_ready' },
  });
  const { reply, rows } = account.accept({
    type: 'push_pool',
    publicKey: OTHER_IDENTITY,
    pool: pushedPool('sol', 5),
    addressIds: ids(),
  });
  t.deepEqual(reply, { size: 5, unused: 4 });
  t.deepEqual(
    rowsOf(rows, 'pool_address').map(({ row }) => row.index),
    [1, 2, 3, 4],
  );
});

test('§4.7 a reset after a rotation goes back to the first address of the new identity, never to one of the old', (t) => {
  const account = enrolled({ environment: 'sandbox' }, { keys: [pushedKey('evm')], pools: [pushedPool('sol', 4)] });
  for (let issued = 0; issued < 2; issued += 1) {
    account.accept(commands.createAddress({ chain: 'sol', unissued: pushedPool('sol', 4).addresses }));
  }
  account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)], rotationId: 'rot_2' }));
  account.accept({
    type: 'decide_rotation',
    rotationId: 'rot_2',
    decision: 'approve',
    byUser: 'usr_1',
    addressIds: ids(),
  });
  account.accept({ type: 'begin_reset' });
  account.accept({ type: 'reset_sandbox' });
  t.is(
    account.refused(commands.createAddress({ chain: 'sol' })).code,
    'CHAIN_NOT_READY',
    'nothing of the new one was pushed yet',
  );
  const pool = pushedPool('sol', 3, 2);
  account.accept({ type: 'push_pool', publicKey: OTHER_IDENTITY, pool, addressIds: ids() });
  account.accept(commands.createAddress({ chain: 'sol', unissued: pool.addresses }));
  account.accept({ type: 'begin_reset' });
  account.accept({ type: 'reset_sandbox' });
  t.like(account.state.pools.sol, { next: 2, size: 5, capacity: 3 });
  t.is(account.accept(commands.createAddress({ chain: 'sol', unissued: pool.addresses })).reply.index, 2);
});

test('spec 2 a suspended account registers nothing, and its deposits are still told', (t) => {
  const account = enrolled();
  account.accept({ type: 'suspend', suspended: true, byUser: 'usr_1' });
  t.is(account.refused(commands.enrol({ keys: [pushedKey('tron')] })).code, 'ACCOUNT_SUSPENDED');
  t.is(account.refused(commands.createAddress()).code, 'ACCOUNT_SUSPENDED');
  t.notThrows(() =>
    account.accept({ type: 'apply_facts', inbox: [], deposits: [], withdrawals: [], addresses: [], depositIds: [] }),
  );
  account.accept({ type: 'suspend', suspended: false, byUser: 'usr_1' });
  t.notThrows(() => account.accept(commands.createAddress()));
});
