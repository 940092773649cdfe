import test from 'ava';
import { addressHandlers } from '../../../gateway/http/address/addresses.ts';
import { presentTanks } from '../../../gateway/http/account-state.ts';
import type { HandlerDeps } from '../../../gateway/http/surroundings.ts';
import { pageOf } from '../../../protocol/page.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { addressRow } from '../../support/store-rows.ts';

const ACCOUNT = 'org_a_live' as AccountId;
const row = addressRow(ACCOUNT, { index: 2, derivationPath: "m/44'/60'/0'/0/2" });
const tank = addressRow(ACCOUNT, { purpose: 'gas_tank', index: null, createdAtMs: 5 });
const retired = [{ fingerprint: 'ab'.repeat(8), atMs: 9, next: { evm: 3 } }];

test('design 3: address reads go to the projections: an account that answers nothing does not fail them', async (t) => {
  const reads = {
    addresses: async () => pageOf([row], { page: 0, size: 20, total: 1, next: null }),
    address: async () => row,
    ownAddresses: async () => [tank],
    retiredIdentities: async () => ({ retired }),
  };
  const accounts = { ask: async () => t.fail('the account was asked') };
  const deps = { accounts, stores: { reads }, chains: {}, nowMs: () => 0 } as unknown as HandlerDeps;
  const { listAddresses, getAddress } = addressHandlers(deps);
  const caller = { kind: 'api_key', accountId: ACCOUNT } as never;
  const origin = `[${'ab'.repeat(8)}/44'/60'/0'/0/2]`;
  const page = await (listAddresses as (asked: unknown) => Promise<unknown>)({ caller, query: { page: 0, size: 20 } });
  t.like(page, { content: { 0: { derivationPath: origin } } });
  t.like(await (getAddress as (asked: unknown) => Promise<unknown>)({ caller, params: { id: row.id } }), {
    derivationPath: origin,
  });
  t.deepEqual(await presentTanks(deps, ACCOUNT), [], 'a tank of a retired identity');
});
