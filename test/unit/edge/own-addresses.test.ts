import test from 'ava';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { OwnAddresses } from '../../../edge/signing/own-addresses.ts';
import { derivePool } from '../../../edge/link/pools.ts';
import { FIRST, GAS_TANK, PHRASE, SECOND } from '../../support/edge/edges.ts';

const newKeystore = () => createPhraseKeystore(seedOf(PHRASE, ''));
const own = new OwnAddresses(newKeystore());

test('chains.md 5.1: addresses of the template, on every chain of the family, and of no other path', (t) => {
  for (const chain of ['eth', 'bsc', 'polygon', 'avax', 'base'] as const) {
    t.is(own.addressAt(chain, "m/44'/60'/0'/0/0"), FIRST);
    t.is(own.addressAt(chain, "m/44'/60'/0'/0/1"), SECOND);
    t.is(own.addressAt(chain, own.paths(chain).gasTank!), GAS_TANK);
    t.is(own.addressAt(chain, own.paths(chain).treasury!), '0x26db4d065800Bd118928848E69A1cBF956Cff1D0');
  }
  for (const path of [
    "m/44'/60'/0'",
    "m/44'/60'/0'/2/0",
    "m/44'/60'/0'/0/00",
    "m/44'/60'/0'/0/2147483648",
    "m/44'/60'/0'/0/-1",
    "m/44'/60'/0'/0/0/0",
    "m/44'/60'/1'/0/0",
    "m/44'/60'/0'/0'/0",
    'M/0/0',
    '',
    "m/44'/60'/0'/0/0 ",
    "m/44'/195'/0'/0/0",
  ])
    t.is(own.addressAt('eth', path), null, path);
});

test('chains.md 7.1, 9.1: pooled chains derive by hardened templates only', (t) => {
  t.is(own.addressAt('sol', "m/44'/501'/0'/0'"), 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
  t.is(own.addressAt('xlm', "m/44'/148'/0'"), 'GB3JDWCQJCWMJ3IILWIGDTQJJC5567PGVEVXSCVPEQOTDN64VJBDQBYX');
  t.is(own.addressAt('sol', "m/44'/501'/0'/1'/0'"), '9pedgei8s5tZ7S4FpLjg2WXAs5cG9SFvfgPig5RhcGdU');
  for (const path of [
    "m/44'/501'/0'",
    "m/44'/501'/0/0",
    "m/44'/501'/00'/0'",
    "m/44'/501'/2147483648'/0'",
    "m/44'/501'/0'/0'/0'",
  ])
    t.is(own.addressAt('sol', path), null, path);
  t.is(own.paths('sol').treasury, null);
});

test('decisions 3: a pool is a run of indexes with its gas tank, and every address of it is its own', async (t) => {
  const pool = await derivePool(newKeystore(), 'sol', 1_000, 3);
  t.deepEqual(
    pool.addresses.map(({ index }) => index),
    [1_000, 1_001, 1_002],
  );
  for (const { address, path } of [...pool.addresses, pool.gasTank]) t.is(own.addressAt('sol', path), address);
});

test('reliability 3.8: a stopped keystore gives no key and no address; a lent key is zero afterwards', (t) => {
  const keystore = newKeystore();
  let lent: Uint8Array = new Uint8Array();
  keystore.withKey('eth', "m/44'/60'/0'/0/0", ({ privateKey }) => {
    lent = privateKey;
    t.true(privateKey.some((byte) => byte !== 0));
  });
  t.true(lent.every((byte) => byte === 0));
  t.throws(() =>
    keystore.withKey('eth', "m/44'/60'/0'/0/0", ({ privateKey }) => {
      lent = privateKey;
      throw new Error('broken');
    }),
  );
  t.true(
    lent.every((byte) => byte === 0),
    'after a fault too',
  );
  const seed = seedOf(PHRASE, '');
  const other = createPhraseKeystore(seed);
  other.stop();
  t.true(seed.every((byte) => byte === 0));
  t.throws(() => other.withKey('eth', "m/44'/60'/0'/0/0", () => undefined));
  t.throws(() => other.addressAt('sol', "m/44'/501'/0'/0'"));
});

test('found F5 the position of a customer path; tanks, treasuries and spellings of it have none', (t) => {
  for (const [chain, path, position] of [
    ['eth', "m/44'/60'/0'/0/7", 7],
    ['btc', "m/84'/0'/0'/0/0", 0],
    ['sol', "m/44'/501'/5'/0'", 5],
    ['xlm', "m/44'/148'/9'", 9],
    ['xrp', "m/44'/144'/0'/0/2147483647", 2_147_483_647],
    ['eth', "m/44'/60'/0'/1/0", null],
    ['eth', "m/44'/60'/0'/0/07", null],
    ['eth', "m/44'/60'/0'/0/2147483648", null],
    ['sol', "m/44'/501'/0'/1'/0'", null],
    ['xlm', "m/44'/148'/0'/1'/0'", null],
    ['bsc', "m/44'/195'/0'/0/7", null],
    ['eth', "[0123456789abcdef/44'/60'/0'/0/7]", null],
  ] as const)
    t.is(own.depositPosition(chain, path), position, path);
});
