import test from 'ava';
import { pathOf } from '../../../actors/edge-link/retired-identities.ts';
import type { RetiredIdentity } from '../../../model/account/edge-link.ts';

const deposit = {
  derivationPath: "m/44'/60'/0'/0/4",
  purpose: 'deposit',
  family: 'evm',
  index: 4,
  createdAtMs: 50,
} as const;
const first: RetiredIdentity = { fingerprint: 'a'.repeat(16), atMs: 100, next: { evm: 5, sol: 2 } };
const second: RetiredIdentity = { fingerprint: 'b'.repeat(16), atMs: 200, next: { evm: 7, sol: 2 } };

test('§5.7 a deposit address is of the identity that its index was issued under', (t) => {
  const retired = [first, second];
  t.is(pathOf({ retired }, deposit), `[${first.fingerprint}/44'/60'/0'/0/4]`);
  t.is(pathOf({ retired }, { ...deposit, index: 5 }), `[${second.fingerprint}/44'/60'/0'/0/4]`);
  t.is(pathOf({ retired }, { ...deposit, index: 7 }), deposit.derivationPath);
  t.is(pathOf({ retired }, { ...deposit, family: 'btc', index: 0 }), deposit.derivationPath);
  t.is(pathOf({ retired: [] }, deposit), deposit.derivationPath);
});

test('§5.7 gas tanks and treasuries go by the time of the rotation; an origin stays what it is', (t) => {
  const tank = { ...deposit, purpose: 'gas_tank', index: null } as const;
  t.is(pathOf({ retired: [first] }, tank), `[${first.fingerprint}/44'/60'/0'/0/4]`);
  t.is(pathOf({ retired: [first] }, { ...tank, createdAtMs: 100 }), tank.derivationPath);
  const ofSource = `[${'c'.repeat(16)}/44'/60'/0'/0/1]`;
  t.is(pathOf({ retired: [first] }, { ...deposit, derivationPath: ofSource, index: null }), ofSource);
});
