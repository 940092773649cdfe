import test from 'ava';
import type { AccountCommand } from '../../../model/account/capabilities.ts';
import { pathOf } from '../../../actors/edge-link/retired-identities.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { BAND_TERMS, TIER_TERMS } from '../../../protocol/plans.ts';
import { commands, enrolled, keyVector, pushedKey, pushedPool, rowsOf, TestAccount } from '../../support/account.ts';

const KEYS = { keys: [pushedKey('evm'), pushedKey('btc'), pushedKey('tron'), pushedKey('xrp')] };
/** The same account with a number of active addresses that no test can issue one by one. */
function crowded(account: TestAccount, activeAddresses: number): TestAccount {
  account.state = { ...account.state, activeAddresses };
  return account;
}

test('found F40: the five EVM networks share path and address: a further network of an index has a row of its own and counts no more', (t) => {
  const account = enrolled();
  const networks = ['eth', 'bsc', 'polygon', 'avax', 'base'] as const;
  const rows = networks.map(
    (chain) => account.accept(commands.createAddress({ chain, paired: chain === 'eth' ? null : 0 })).reply,
  );
  t.deepEqual(
    rows.map(({ index }) => index),
    [0, 0, 0, 0, 0],
  );
  t.deepEqual(
    rows.map(({ chain }) => chain),
    [...networks],
  );
  t.is(
    new Set(rows.map(({ address, derivationPath, addressKey }) => `${address} ${derivationPath} ${addressKey}`)).size,
    1,
  );
  t.like(account.state, { activeAddresses: 1, indexes: { evm: 1 }, chains: [...networks] });
  const next = account.accept(commands.createAddress({ chain: 'base' })).reply;
  t.is(next.index, 1);
  const deposits = keyVector('evm').addresses.filter(({ relativePath }) => relativePath.startsWith('0/'));
  t.deepEqual(
    [rows[0]!, next].map(({ address, derivationPath }) => [address, derivationPath]),
    deposits.slice(0, 2).map(({ address, path }) => [address, path]),
  );
  t.like(
    account.refused(commands.createAddress({ chain: 'bsc', paired: 2 })),
    { code: 'SERVICE_UNAVAILABLE', details: { reason: 'pairs_changed' } },
    'an index that was never issued',
  );
  // A full account takes a further network of what it has; archived and back counts with the last and the first row.
  const full = crowded(enrolled({ plan: { tier: 'premium' } }), 999);
  const eth = full.accept(commands.createAddress({ chain: 'eth' })).reply;
  t.is(full.refused(commands.createAddress({ chain: 'bsc' })).code, 'ADDRESS_LIMIT_EXCEEDED');
  full.accept(commands.createAddress({ chain: 'bsc', paired: 0 }));
  const status = (becomes: 'active' | 'archived', alone: boolean): AccountCommand => ({
    type: 'set_address_status',
    known: { ...eth, status: becomes === 'active' ? 'archived' : 'active' },
    status: becomes,
    alone,
  });
  full.accept(status('archived', false));
  t.is(full.state.activeAddresses, 1_000);
  full.accept(status('active', false));
  full.accept(status('archived', true));
  t.is(full.state.activeAddresses, 999);
  full.accept(status('active', true));
  t.is(full.refused(status('active', true)).code, 'ADDRESS_LIMIT_EXCEEDED');
});

test("found F40: an index of a retired identity is no pair, and after a sandbox reset the first indexes are the present one's", (t) => {
  const account = enrolled({ environment: 'sandbox' });
  account.accept(commands.createAddress());
  const rotated = { publicKey: 'b'.repeat(64), keys: [pushedKey('evm', 1)], rotationId: 'rot_2' };
  account.accept(commands.enrol(rotated));
  account.accept({
    type: 'decide_rotation',
    rotationId: 'rot_2',
    decision: 'approve',
    byUser: 'usr_1',
    addressIds: commands.enrol().addressIds,
  });
  t.is(account.refused(commands.createAddress({ chain: 'bsc', paired: 0 })).code, 'SERVICE_UNAVAILABLE');
  t.is(account.accept(commands.createAddress({ chain: 'bsc' })).reply.index, 1);
  account.accept({ type: 'begin_reset' });
  account.accept({ type: 'reset_sandbox' });
  const first = account.accept(commands.createAddress()).reply;
  t.is(pathOf(account.state, first), first.derivationPath);
  t.is(account.accept(commands.createAddress({ chain: 'bsc', paired: 0 })).reply.address, first.address);
});

test('chains.md 4.1, 6.1, 8.1: the first addresses of btc, tron and xrp are those of the published vectors', (t) => {
  const account = enrolled({}, KEYS);
  for (const family of ['btc', 'tron', 'xrp'] as const) {
    const first = keyVector(family).addresses.find(({ relativePath }) => relativePath === '0/0')!;
    t.like(account.accept(commands.createAddress({ chain: family })).reply, {
      address: first.address,
      derivationPath: first.path,
      index: 0,
    });
  }
});

test('I10 indexes of a family go up by one, of different families apart', (t) => {
  const account = enrolled({}, KEYS);
  const indexes = (['eth', 'btc', 'eth', 'base', 'btc'] as const).map(
    (chain) => account.accept(commands.createAddress({ chain })).reply.index,
  );
  t.deepEqual(indexes, [0, 0, 1, 2, 1]);
});

test('§2.3 an address keeps userRef, tag and label; its key covers environment and family (I9)', (t) => {
  const live = enrolled().accept(commands.createAddress({ userRef: 'u-1', tag: 'deposit', label: 'Ann' })).reply;
  t.like(live, { userRef: 'u-1', tag: 'deposit', label: 'Ann', status: 'active', purpose: 'deposit' });
  const sandbox = enrolled({ environment: 'sandbox' }).accept(commands.createAddress()).reply;
  t.is(sandbox.address, live.address);
  t.not(sandbox.addressKey, live.addressKey);
  t.is(live.addressKey, addressKeyOf('live', 'evm', Buffer.from(live.address.slice(2), 'hex')));
});

test('§3.1 no key, no address: CHAIN_NOT_READY with the state', (t) => {
  t.like(enrolled().refused(commands.createAddress({ chain: 'btc' })), {
    code: 'CHAIN_NOT_READY',
    details: { chain: 'btc', state: 'not_ready' },
  });
  t.is(new TestAccount().refused(commands.createAddress()).code, 'CHAIN_NOT_READY');
});

test('§3.8 a lapsed subscription issues nothing in live; sandbox is free', (t) => {
  t.is(enrolled({ plan: { subscription: 'lapsed' } }).refused(commands.createAddress()).code, 'NO_SUBSCRIPTION');
  t.notThrows(() =>
    enrolled({ environment: 'sandbox', plan: { subscription: 'lapsed' } }).accept(commands.createAddress()),
  );
});

test('§8 a band is full at its capacity: ADDRESS_LIMIT_EXCEEDED with band, limit and current (I27)', (t) => {
  for (const band of ['launch', 'growth'] as const) {
    const limit = BAND_TERMS[band].addresses;
    const account = crowded(enrolled({ plan: { tier: 'premium', band } }), limit - 1);
    account.accept(commands.createAddress());
    t.deepEqual(account.refused(commands.createAddress()).details, { band, limit, current: limit });
    t.is(account.refused(commands.createAddress()).code, 'ADDRESS_LIMIT_EXCEEDED');
  }
});

test('§8.2 tier Free: a hundred addresses and two chains, then TIER_FEATURE_LOCKED with the tier that has more', (t) => {
  const account = crowded(enrolled({ plan: { tier: 'free' } }, KEYS), TIER_TERMS.free.addresses! - 1);
  account.accept(commands.createAddress({ chain: 'eth' }));
  t.like(account.refused(commands.createAddress({ chain: 'eth' })), {
    code: 'TIER_FEATURE_LOCKED',
    details: { feature: 'addresses', limit: 100, current: 100, requiredTier: 'premium' },
  });
  const chains = enrolled({ plan: { tier: 'free' } }, KEYS);
  chains.accept(commands.createAddress({ chain: 'eth' }));
  chains.accept(commands.createAddress({ chain: 'btc' }));
  t.like(chains.refused(commands.createAddress({ chain: 'tron' })), {
    code: 'TIER_FEATURE_LOCKED',
    details: { feature: 'chains', limit: 2, requiredTier: 'premium' },
  });
  t.notThrows(() => chains.accept(commands.createAddress({ chain: 'btc' })));
});

test('decisions 3: sandbox is exempt from tier, address and band limits', (t) => {
  const account = crowded(enrolled({ environment: 'sandbox', plan: { tier: 'free' } }, KEYS), 5_000_000);
  for (const chain of ['eth', 'btc', 'tron', 'xrp'] as const)
    t.notThrows(() => account.accept(commands.createAddress({ chain })));
});

test('§8 archiving makes room, bringing back takes it again; the store refuses a status that is so already', (t) => {
  const account = crowded(enrolled({ plan: { tier: 'premium' } }), 999);
  const row = account.accept(commands.createAddress()).reply;
  const status = (status: 'active' | 'archived', known = row): AccountCommand => ({
    type: 'set_address_status',
    known,
    status,
    alone: true,
  });
  t.is(account.refused(status('active')).code, 'ADDRESS_LIMIT_EXCEEDED');
  const { reply, rows } = account.accept(status('archived'));
  t.is((reply as typeof row).status, 'archived');
  t.deepEqual(rowsOf(rows, 'address_status'), [
    { table: 'address_status', id: row.id, status: 'archived', alone: true },
  ]);
  t.is(account.refused(status('archived', { ...row, status: 'archived' })).code, 'CONFLICT');
  account.accept(commands.createAddress());
  t.is(account.refused(status('active', { ...row, status: 'archived' })).code, 'ADDRESS_LIMIT_EXCEEDED');
  t.is(account.refused(status('archived', { ...row, purpose: 'gas_tank' })).code, 'NOT_FOUND');
});

test('§3.1 a pool below 20 % is pool_low, announced once until the next push', (t) => {
  const account = enrolled({}, { keys: [], pools: [pushedPool('xlm', 10)] });
  const stock = pushedPool('xlm', 10).addresses;
  const issue = () => account.accept(commands.createAddress({ chain: 'xlm', unissued: stock }));
  for (let issued = 1; issued <= 8; issued += 1) t.is(rowsOf(issue().rows, 'publication').length, 0, `after ${issued}`);
  const low = issue();
  t.like(JSON.parse(rowsOf(low.rows, 'publication')[0]!.row.body), {
    event: 'pool_low',
    data: { chain: 'xlm', unused: 1, levelPercent: 10 },
  });
  t.is(account.accept({ type: 'inspect' }).reply.pools.xlm!.lowAnnounced, true);
  t.is(rowsOf(issue().rows, 'publication').length, 0);
});

test('found pool storm: a refill comes in parts, and a pool that empties as fast is announced as low once', (t) => {
  const account = enrolled({}, { keys: [], pools: [pushedPool('xlm', 10)] }),
    { addresses } = pushedPool('xlm', 18);
  let announced = 0;
  const issue = () => {
    announced += rowsOf(
      account.accept(commands.createAddress({ chain: 'xlm', unissued: addresses })).rows,
      'publication',
    ).length;
  };
  const push = (from: number, count: number) =>
    account.accept({
      type: 'push_pool',
      publicKey: 'a'.repeat(64),
      pool: { ...pushedPool('xlm', 18), addresses: addresses.slice(from, from + count) },
      addressIds: ['adr_x'],
    });
  for (let n = 0; n < 10; n += 1) issue();
  t.is(announced, 1);
  for (let from = 10; from < 13; from += 1) {
    push(from, 1);
    issue();
  }
  t.is(announced, 1, 'one address is no refill');
  t.is(account.state.pools.xlm!.capacity, 10);
  push(13, 5);
  t.false(account.state.pools.xlm!.lowAnnounced, 'half of it is');
  for (let n = 0; n < 5; n += 1) issue();
  t.is(announced, 2);
});

test('decisions 3: an empty pool is EDGE_OFFLINE without a live edge; a live one has its replenishment on the way', (t) => {
  const account = enrolled({}, { keys: [], pools: [pushedPool('sol', 2)] });
  const { addresses } = pushedPool('sol', 2);
  const issued = [0, 1].map(() => account.accept(commands.createAddress({ chain: 'sol', unissued: addresses })).reply);
  t.deepEqual(
    issued.map(({ address, derivationPath }) => [address, derivationPath]),
    addresses.map(({ address, path }) => [address, path]),
  );
  t.is(account.refused(commands.createAddress({ chain: 'sol' })).code, 'EDGE_OFFLINE');
  account.accept({ type: 'note_liveness', liveness: 'live' });
  t.like(account.refused(commands.createAddress({ chain: 'sol' })), {
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'pool_refill' },
  });
});

test('C9-70 a pool address is the one whose turn it is, whatever came along with the command', (t) => {
  const account = enrolled({}, { keys: [], pools: [pushedPool('sol', 4)] });
  const { addresses } = pushedPool('sol', 4);
  t.is(account.accept(commands.createAddress({ chain: 'sol', unissued: addresses.toReversed() })).reply.index, 0);
  t.is(
    account.refused(commands.createAddress({ chain: 'sol', unissued: addresses.slice(0, 1) })).code,
    'SERVICE_UNAVAILABLE',
  );
  t.is(account.accept(commands.createAddress({ chain: 'sol', unissued: addresses })).reply.index, 1);
});

test('pool pushes: paths by the template, no hole, known indexes skipped, real addresses only', (t) => {
  const account = enrolled({}, { keys: [], pools: [pushedPool('sol', 2)] });
  const push = (change: (pool: ReturnType<typeof pushedPool>) => void, from = 0): AccountCommand => {
    const pool = pushedPool('sol', 2, from);
    change(pool);
    return { type: 'push_pool', publicKey: 'a'.repeat(64), pool, addressIds: ['adr_x'] };
  };
  t.is(
    account.refused(
      push((pool) => {
        pool.addresses[1]!.path = "m/44'/501'/9'/0'";
      }, 2),
    ).code,
    'INVALID_INPUT',
  );
  t.is(account.refused(push(() => {}, 3)).code, 'INVALID_INPUT');
  t.is(
    account.refused(
      push((pool) => {
        pool.addresses[0]!.address = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
      }, 2),
    ).code,
    'INVALID_ADDRESS',
  );
  t.is(
    account.refused(
      push((pool) => {
        pool.gasTank.path = "m/44'/501'/7'";
      }, 2),
    ).code,
    'INVALID_INPUT',
  );
  t.is(account.accept(push(() => {})).events.length, 0);
  t.deepEqual(account.accept(push(() => {}, 2)).reply, { size: 4, unused: 4 });
});
