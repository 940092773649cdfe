import test from 'ava';
import { addressView } from '../../../gateway/http/views.ts';
import type { AddressRow } from '../../../persistence/rows.ts';
import { CHAINS, FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';

const row = (chain: Chain): AddressRow => ({
  id: 'adr_1', accountId: 'org_1_live', chain, family: FAMILY_OF[chain], address: 'a', addressKey: '', derivationPath: 'm/0', purpose: 'deposit',
  index: 0, userRef: null, tag: null, label: null, status: 'active', createdAtMs: 0,
});

test('§2.3 `reserveDrops` is the published minimum first deposit of an `xlm` address, and nobody else has it', (t) => {
  t.is(addressView({}, row('xlm')).reserveDrops, '10000000');
  for (const chain of CHAINS.filter((other) => other !== 'xlm')) t.false('reserveDrops' in addressView({}, row(chain)), chain);
});
