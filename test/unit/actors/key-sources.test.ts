import { HDKey } from '@scure/bip32';
import test from 'ava';
import fc from 'fast-check';
import secp256k1 from 'secp256k1';
import { SOURCE_KEYS_MAX, watchOnly } from '../../../actors/key-source/decide.ts';
import type { AccountCommand, AccountState } from '../../../model/account/capabilities.ts';
import { upcast } from '../../../model/account/snapshot.ts';
import { addressOfPublicKey } from '../../../chains/evm/derive.ts';
import { CHAINS, EVM_CHAINS } from '../../../protocol/slugs.ts';
import { adr, enrolled, IDENTITY, OTHER_IDENTITY, pushedKey, rowsOf, TestAccount } from '../../support/account.ts';

type Register = Extract<AccountCommand, { type: 'register_key_source' }>;
const PATH = "m/44'/60'/0'";
const account0 = HDKey.fromMasterSeed(Buffer.alloc(32, 5)).derive(PATH);
const addressAt = (below: string) =>
  addressOfPublicKey(secp256k1.publicKeyConvert(account0.derive(`m/${below}`).publicKey!, false));
const pushed = (index: number, below = `0/${index}`) => ({
  chain: 'eth' as const,
  index,
  path: `${PATH}/${below}`,
  address: addressAt(below),
});

const register = (more: Partial<Register> = {}): Register => ({
  type: 'register_key_source',
  publicKey: IDENTITY,
  id: 'ks_1',
  fingerprint: 'a'.repeat(16),
  label: 'old',
  kind: 'phrase',
  keystore: 'file',
  chains: ['eth'],
  keys: [{ chain: 'eth', path: PATH, xpub: account0.publicExtendedKey }],
  addresses: [pushed(0), pushed(1)],
  known: [],
  addressIds: Array.from({ length: 500 }, adr),
  ...more,
});
const purge = (id = 'ks_1', publicKey = IDENTITY) => ({ type: 'purge_key_source', publicKey, id }) as const;

test('§4.8 a registration is one event and a row for each new address, without an index, at its origin', (t) => {
  const account = enrolled();
  const before = account.state.activeAddresses;
  const { reply, events, rows } = account.accept(register());
  t.deepEqual(
    events.map(({ type }) => type),
    ['key_source_registered'],
  );
  t.deepEqual(
    rowsOf(rows, 'address').map(({ row }) => [row.address, row.derivationPath, row.purpose, row.index]),
    [0, 1].map((index) => [addressAt(`0/${index}`), `[${'a'.repeat(16)}/44'/60'/0'/0/${index}]`, 'deposit', null]),
  );
  t.is(reply.added, 2);
  t.is(account.state.activeAddresses, before + 2);
  t.deepEqual(account.state.indexes, {});
  t.deepEqual(account.folded(), account.state);
  t.is(account.accept(register({ known: [addressAt('0/0'), addressAt('0/1')] })).events.length, 0);
});

test('§4.8 the paths of older wallets: one step, change, four steps; hardened or too many steps derive nothing', (t) => {
  const account = enrolled();
  for (const below of ['7', '1/3', '5/6', '1/2/3/4']) {
    t.is(account.accept(register({ addresses: [pushed(0, below)] })).reply.added, 1, below);
  }
  for (const path of [
    `${PATH}/0'/0`,
    `${PATH}/1/2/3/4/5`,
    `${PATH}/2147483648`,
    PATH,
    "m/44'/60'/1'/0/0",
    "m/44'/60'/0/0",
  ]) {
    t.like(
      account.refused(register({ addresses: [{ ...pushed(0), index: 9, path }] })),
      { code: 'KEY_SOURCE_MISMATCH', details: { chain: 'eth', index: 9 } },
      path,
    );
  }
});

test('§4.8 whichever pushed address is another one, the whole registration is refused and nothing is written', (t) => {
  const other = HDKey.fromMasterSeed(Buffer.alloc(32, 6)).derive(PATH);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.nat(7),
      fc.constantFrom('key', 'index', 'case'),
      (count, at, lie) => {
        const wrong = at % count;
        const addresses = Array.from({ length: count }, (_, index) => pushed(index)).map((address, index) => {
          if (index !== wrong) return address;
          if (lie === 'key')
            return {
              ...address,
              address: addressOfPublicKey(secp256k1.publicKeyConvert(other.derive(`m/0/${index}`).publicKey!, false)),
            };
          return lie === 'index'
            ? { ...address, path: `${PATH}/0/${index + 100}` }
            : { ...address, address: address.address.toLowerCase() };
        });
        const account = enrolled();
        const before = structuredClone(account.state);
        const refusal = account.refused(register({ addresses }));
        t.deepEqual(account.state, before);
        return (
          refusal.code === 'KEY_SOURCE_MISMATCH' &&
          refusal.details['index'] === wrong &&
          refusal.details['chain'] === 'eth'
        );
      },
    ),
    { numRuns: 30 },
  );
  t.like(enrolled().refused(register({ addresses: [pushed(0), pushed(0)] })), { code: 'INVALID_INPUT' });
});

test('§4.8 a purge makes every EVM chain watch-only, the own paths stay; twice is once; the record stays', (t) => {
  const account = enrolled();
  account.accept(register());
  const origin = `[${'a'.repeat(16)}/44'/60'/0'/0/0]`;
  for (const chain of EVM_CHAINS) t.is(watchOnly(account.state, chain, origin), null);
  t.like(watchOnly(account.state, 'btc', origin), {
    code: 'ADDRESS_WATCH_ONLY',
    details: { reason: 'family_not_signed' },
  });
  t.like(watchOnly(account.state, 'eth', `[${'b'.repeat(16)}]`), {
    code: 'ADDRESS_WATCH_ONLY',
    details: { reason: 'no_source' },
  });
  t.is(account.accept(purge()).events.length, 1);
  t.is(account.accept(purge()).events.length, 0);
  for (const chain of EVM_CHAINS)
    t.like(watchOnly(account.state, chain, origin), {
      code: 'ADDRESS_WATCH_ONLY',
      details: { reason: 'source_purged' },
    });
  t.is(watchOnly(account.state, 'eth', `${PATH}/0/0`), null);
  t.is(account.refused(register()).code, 'KEY_SOURCE_PURGED');
  t.is(account.state.keySources!['ks_1']!.purgedAtMs, account.nowMs);
  t.deepEqual(account.folded(), account.state);
});

test('migration M-X1 what has no key, or only the claim of a path, is no path of the account', (t) => {
  const account = enrolled();
  account.accept(register());
  for (const chain of CHAINS)
    for (const path of ['[]', '', 'm', "44'/60'/0'/0/0", '[', `[${'a'.repeat(15)}]`, `[${'A'.repeat(16)}]`, '0/0'])
      t.like(
        watchOnly(account.state, chain, path),
        { code: 'ADDRESS_WATCH_ONLY', details: { reason: 'no_key' } },
        `${chain} ${path}`,
      );
  t.is(watchOnly(account.state, 'eth', `${PATH}/0/0`), null);
});

test('§4.8 who and when: foreign identity, no enrolment, suspended, no EVM key, unknown source', (t) => {
  t.is(enrolled().refused(register({ publicKey: OTHER_IDENTITY })).code, 'EDGE_SIGNATURE_INVALID');
  t.is(new TestAccount().refused(register()).code, 'RESYNC_REQUIRED');
  t.is(enrolled().refused(purge()).code, 'NOT_FOUND');
  t.is(enrolled().refused(purge('ks_1', OTHER_IDENTITY)).code, 'EDGE_SIGNATURE_INVALID');
  const suspended = enrolled();
  suspended.accept(register());
  suspended.accept({ type: 'suspend', suspended: true, byUser: 'usr_1' });
  t.is(suspended.refused(register()).code, 'ACCOUNT_SUSPENDED');
  // Whoever is suspended may still tell that a key is gone.
  t.truthy(suspended.accept(purge()).reply.purgedAtMs);
  t.like(enrolled({}, { keys: [pushedKey('btc')] }).refused(register()), { code: 'CHAIN_NOT_READY' });
  const { xpub, accountPath: path } = pushedKey('evm');
  t.like(enrolled().refused(register({ addresses: [], keys: [{ chain: 'eth', path, xpub }] })), {
    code: 'CONFLICT',
    details: { reason: 'enrolled_key' },
  });
});

test('§4.8 the keys of all sources of an account are bounded, because they are part of its snapshot', (t) => {
  const account = enrolled();
  const single = (at: number) => {
    const key = Buffer.alloc(32);
    key.writeUInt32BE(at + 1, 28);
    return { chain: 'xrp' as const, publicKey: Buffer.from(secp256k1.publicKeyCreate(key)).toString('hex') };
  };
  const one = (at: number) =>
    register({
      id: `ks_${at}`,
      fingerprint: at.toString(16).padStart(16, '0'),
      addresses: [],
      chains: ['xrp'],
      keys: [single(at)],
      kind: 'key',
    });
  for (let at = 0; at < SOURCE_KEYS_MAX; at += 1) account.accept(one(at));
  t.like(account.refused(one(SOURCE_KEYS_MAX)), {
    code: 'CONFLICT',
    details: { reason: 'key_limit', limit: SOURCE_KEYS_MAX },
  });
  t.true(Buffer.byteLength(JSON.stringify(account.state)) < 128 * 1_024);
});

test('§4.7 a sandbox reset forgets the addresses of sources and keeps the sources; an older snapshot has none', (t) => {
  const account = enrolled({ environment: 'sandbox' });
  account.accept(register());
  account.accept({ type: 'begin_reset' });
  account.accept({ type: 'reset_sandbox' });
  t.like(account.state.keySources!['ks_1'], { addresses: 0, purgedAtMs: null });
  t.is(account.accept(register()).reply.added, 2);
  const old = enrolled();
  const { keySources: _, format: __, ...snapshot } = old.state;
  const { state } = new TestAccount({ state: upcast<AccountState>(snapshot) });
  t.is(watchOnly(state, 'eth', `${PATH}/0/0`), null);
  t.is(new TestAccount({ state }).accept(register()).reply.added, 2);
});
