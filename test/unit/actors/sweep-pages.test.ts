/** Which addresses a cycle looks at. Treasury S9. */
import test from 'ava';
import { operationsOf, planOf, type PlanPage } from '../../../actors/sweep/plan.ts';
import { evm } from '../../../chains/evm/index.ts';
import { networkOf } from '../../../chains/registry.ts';
import type { SweepCandidate } from '../../../model/ports/sweep-store.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { NOW_MS } from '../../support/account.ts';
import { inputsOf } from '../../support/evm-inputs.ts';
import { withPolicy } from '../../support/sweep-policy.ts';

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
    const candidates = async (_: unknown, __: unknown, ___: unknown, from: number, most: number) => {
      reads.push(from);
      return all.slice(from, from + most);
    };
    const parts = { chains: { bind: async () => binding }, sweeps: { candidates } } as never;
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
  const page = await look({ floor: 1n, from: 3, most: PAGE });
  t.deepEqual(page.reads, [3], 'a preview is one page');
  t.is(page.asked.length, PAGE);
});
