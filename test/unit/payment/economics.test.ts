/** found part 2, payments P20: what a chain takes is asked of it once, however many payers wait for the answer. */
import test from 'ava';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { networkOf } from '../../../chains/registry.ts';
import { createEconomics } from '../../../gateway/http/payment/economics.ts';
import type { HandlerDeps } from '../../../gateway/http/surroundings.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';

const [MINE, OTHER, EMPTY] = ['org_a_live', 'org_b_live', 'org_c_live'] as [AccountId, AccountId, AccountId];

function world() {
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const clock = { ms: 1_000_000 };
  const binding = {
    network: networkOf('eth'),
    module: { estimateFee: () => ({ ok: true, feeMax: 7n }) },
    client: {
      fetchBuildInputs: () =>
        new Promise<object>((resolve, reject) => waiting.push({ resolve: () => resolve({}), reject })),
    },
  };
  const tank = { family: 'evm', address: '0x1', derivationPath: "m/44'/60'/0'/1/0" };
  const deps = {
    chains: { enabled: () => ['eth'], bind: async () => binding, tokens: {} },
    stores: {
      reads: {
        ownAddresses: async (accountId: AccountId) => (accountId === EMPTY ? [] : [tank]),
        retiredIdentities: async () => ({ retired: [] }),
      },
    },
    config: {},
    nowMs: () => clock.ms,
  } as unknown as HandlerDeps;
  const { sweepFee } = createEconomics(deps);
  const turn = async () => {
    for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
  };
  return { waiting, clock, turn, feeOf: (accountId: AccountId) => sweepFee(accountId, 'eth', false) };
}

test('found, payments P20: payers of any account who come at once are one question, and one more after a minute', async (t) => {
  const { waiting, clock, turn, feeOf } = world();
  const payers = [MINE, OTHER, MINE, OTHER].map(feeOf);
  await turn();
  t.is(waiting.length, 1);
  waiting[0]!.resolve();
  t.deepEqual(
    (await Promise.all(payers)).map((found) => (isRefusal(found) ? null : found.fee)),
    [7n, 7n, 7n, 7n],
  );
  await feeOf(MINE);
  t.is(waiting.length, 1, 'kept');
  clock.ms += 60_000;
  const later = [MINE, OTHER].map(feeOf);
  await turn();
  t.is(waiting.length, 2);
  waiting[1]!.resolve();
  await Promise.all(later);
});

test('found, payments P20: a chain that is silent is waited for once, and asked again by those who come afterwards', async (t) => {
  const { waiting, turn, feeOf } = world();
  const payers = Promise.allSettled([MINE, MINE, OTHER].map(feeOf));
  await turn();
  t.is(waiting.length, 1);
  waiting[0]!.reject(new ChainUnavailable('eth', 'silent'));
  t.deepEqual(
    (await payers).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  const next = feeOf(MINE);
  await turn();
  t.is(waiting.length, 2);
  waiting[1]!.resolve();
  t.like(await next, { fee: 7n });
});

test('found, payments P20: an account that has no key is refused by itself, and holds up nobody', async (t) => {
  const { waiting, turn, feeOf } = world();
  const [refused, priced] = [feeOf(EMPTY), feeOf(MINE)];
  t.like(await refused, { code: 'CHAIN_NOT_READY' });
  await turn();
  t.is(waiting.length, 1);
  waiting[0]!.resolve();
  t.like(await priced, { fee: 7n });
});
