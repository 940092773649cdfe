/** Adopted addresses of the account's own phrase. */
import test from 'ava';
import { Judge, type Judged } from '../../../actors/migration/imports/judge.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { TokensInForce } from '../../../chains/tokens.ts';

const XPUB =
  'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V';
const ACCOUNT_PATH = "m/44'/60'/0'";
const { catalogueOf } = new TokensInForce();
/** A source that was registered with the very key of the account's own phrase, as from an older edge. */
const source = {
  id: 'ks_1',
  fingerprint: '0123456789abcdef',
  label: 'old',
  kind: 'phrase' as const,
  keystore: 'file' as const,
  chains: ['eth' as const],
  keys: [{ family: 'evm' as const, path: ACCOUNT_PATH, xpub: XPUB, publicKey: null }],
  addresses: 0,
  registeredAtMs: 0,
  purgedAtMs: null,
};

function addressAt(branch: 0 | 1, index: number): string {
  const { derivation } = factsOf('eth');
  if (derivation.kind !== 'xpub') throw new Error('no chain of extended keys');
  return derivation.deriveAddress(networkOf('eth'), XPUB, branch, index).address;
}

function judged(branch: 0 | 1, index: number, claim: 'with its path' | 'without a path'): Judged[] {
  const own = { evm: { xpub: XPUB, accountPath: ACCOUNT_PATH } };
  const judge = new Judge({ environment: 'live', chain: null, own, sources: [source], catalogueOf });
  const path = claim === 'with its path' ? { path: `${ACCOUNT_PATH}/${branch}/${index}` } : {};
  return [
    ...judge.judge({ kind: 'row', line: 2, fields: { address: addressAt(branch, index), chain: 'eth', ...path } }),
  ];
}

test('migration M-K8: of the account’s own phrase an address has its own path and index, before any source is asked', (t) => {
  for (const [index, claim] of [
    [7, 'with its path'],
    [7, 'without a path'],
    [1_999_999_999, 'with its path'],
  ] as const) {
    const found = judged(0, index, claim);
    t.is(found.length, 1, 'and no warning');
    t.like(found[0], { kind: 'row', derivationPath: `${ACCOUNT_PATH}/0/${index}`, ownIndex: index });
  }
  // On the other branch it is adopted, and no index is issued above it.
  t.like(judged(1, 5, 'with its path')[0], { kind: 'row', derivationPath: `${ACCOUNT_PATH}/1/5`, ownIndex: null });
});

test('migration M-K8: gas tank and treasury are no customer’s; above the last index none would be left to issue', (t) => {
  for (const index of [0, 1])
    t.like(judged(1, index, 'with its path'), [{ kind: 'finding', severity: 'error', code: 'own_address', line: 2 }]);
  t.like(judged(0, 2_000_000_000, 'with its path'), [{ kind: 'finding', severity: 'error', code: 'bad_index' }]);
});
