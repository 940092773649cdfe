/** Which addresses a cycle looks at. Treasury S9. */
import test from 'ava';
import { operationsOf, planOf, type PlanPage } from '../../../actors/sweep/plan.ts';
import { evm } from '../../../chains/evm/index.ts';
import { networkOf } from '../../../chains/registry.ts';
import type { SweepPlace } from '../../../model/account/sweep.ts';
import type { SweepCandidate } from '../../../model/ports/sweep-store.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { NOW_MS } from '../../support/account.ts';
import { inputsOf } from '../../support/evm-inputs.ts';
import { silentLeader, withPolicy } from '../../support/sweep-policy.ts';

const ETHER = 10n ** 18n;
const PAGE = 3;

test('treasury S9: addresses that are skipped hide none behind them; none is asked of the chain that the ledger skips, and no more are looked at than are taken', async (t) => {
  const { account } = withPolicy();
  const candidate = (at: number, more: Partial<SweepCandidate> = {}): SweepCandidate => ({
    address: `0x${String(at).padStart(40, '0')}`,
    path: `m/44'/60'/0'/0/${at}`,
    userRef: null,
    credited: ETHER,
    openOperationId: null,
    isObserved: false,
    isPaying: false,
    ...more,
  });
  const skipped = [{ isObserved: true }, { isPaying: true }, { openOperationId: 'swo_x' }];
  const all = [
    ...Array.from({ length: 7 }, (_, at) => candidate(at, skipped[at % skipped.length])),
    ...Array.from({ length: 9 }, (_, at) => candidate(100 + at)),
  ];
  const look = async (page: PlanPage) => {
    const asked: string[] = [],
      reads: number[] = [];
    const client = {
      fetchBuildInputs: async () => inputsOf(),
      fetchBalance: async (address: string) => {
        asked.push(address);
        return { amount: ETHER, reserved: 0n, available: ETHER, decimals: 18, accountExists: true };
      },
    };
    const binding = { network: networkOf('eth'), module: evm, client, catalogue: new Map() };
    const candidates = async (_: unknown, __: unknown, ___: unknown, from: number | SweepPlace, most: number) => {
      const at = typeof from === 'number' ? from : all.findIndex(({ address }) => address === from.address) + 1;
      reads.push(at);
      return all.slice(at, at + most);
    };
    const chains = { ...silentLeader.chains, bind: async () => binding };
    const parts = { ...silentLeader, chains, sweeps: { candidates }, nowMs: () => NOW_MS } as never;
    const plan = await planOf(parts, account.state, account.state.sweepPolicies[0]!, 'schedule', page);
    if (isRefusal(plan)) throw new Error(plan.code);
    return { plan, asked, reads };
  };
  const cycle = await look({ floor: 1n, from: 0, most: PAGE, upTo: 100 });
  t.deepEqual(cycle.reads, [0, 3, 6, 9]);
  t.true(
    cycle.asked.every((address) => BigInt(address) >= 60n),
    'by the chain only what may be taken',
  );
  const operations = operationsOf(cycle.plan, NOW_MS);
  t.deepEqual(
    operations.slice(0, 5).map(({ reason }) => reason),
    [null, null, null, null, null],
    'what is taken is first',
  );
  const bounded = await look({ floor: 1n, from: 0, most: PAGE, upTo: 6 });
  t.deepEqual(bounded.reads, [0, 3]);
  t.true(bounded.plan.addresses.every(({ reason }) => reason !== null));
  // As many are skipped as a cycle looks at: the next one goes on behind them, and begins anew behind the last.
  t.deepEqual(bounded.plan.lookedTo, { amount: String(ETHER), address: all[5]!.address });
  const next = await look({ floor: 1n, from: 0, most: PAGE, upTo: 6, behind: bounded.plan.lookedTo });
  t.deepEqual(next.reads, [6, 9]);
  t.deepEqual(next.plan.addresses.map(({ reason }) => reason).filter((reason) => reason === null).length, 5);
  t.is(next.plan.lookedTo, bounded.plan.lookedTo, 'it was full: what it left is behind the same address');
  const end = await look({
    floor: 1n,
    from: 0,
    most: PAGE,
    upTo: 6,
    behind: { amount: '1', address: all.at(-1)!.address },
  });
  t.deepEqual(end.reads, [16, 0, 3]);
  t.is(cycle.plan.lookedTo, null);
  const page = await look({ floor: 1n, from: 3, most: PAGE });
  t.deepEqual(page.reads, [3], 'a preview is one page');
  t.is(page.asked.length, PAGE);
});
