/** found F8: what the company's own node says of a sender's next counter, and what follows from it. */
import test from 'ava';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { ChainUnavailable, MalformedReply, type Unsigned } from '../../../chains/chain.ts';
import { createOwnCounters } from '../../../edge/signing/own-counters.ts';
import type { Instructions, RecordedInstruction } from '../../../edge/signing/instructions.ts';
import type { OwnAddresses } from '../../../edge/signing/own-addresses.ts';
import type { OwnNode, OwnNodes } from '../../../edge/signing/own-nodes.ts';
import { DEFAULT_FEE_SETTINGS } from '../../../edge/signing/signers/fee-bounds.ts';
import { isAheadOfOwn, signingPolicyOf, type PolicySource } from '../../../edge/signing/policy.ts';

const recorded = {
  instruction: {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain: 'eth',
    from: '0xa',
    fromPath: 'm/0',
    to: '0xb',
    token: null,
    tag: null,
  },
  unsigned: { chain: 'eth', from: '0xa', replayKey: { kind: 'nonce', value: 7 }, amount: 5n } as unknown as Unsigned,
} as unknown as RecordedInstruction;

type Told = number | bigint | null | { latest: number; pending: number };

/** A node of a chain; `nextReplayValue` reads what `inputs` gives. */
const nodesOf = (
  inputs: () => Promise<unknown>,
  checkIdentity = async () => undefined,
  asked: unknown[] = [],
): OwnNodes => ({
  has: (chain) => chain === 'eth',
  close: async () => undefined,
  of: async () =>
    ({
      module: {
        nextReplayValue: (value: Told) => (typeof value === 'object' && value !== null ? value.latest : value),
        pendingReplayValue: (value: Told) => (typeof value === 'object' && value !== null ? value.pending : value),
      },
      client: {
        checkIdentity,
        fetchBuildInputs: async (intent: unknown) => {
          asked.push(intent);
          return inputs();
        },
      },
    }) as unknown as OwnNode,
});

test("found F8 the next counter is the node's, whatever its type; without a node, or one that proves nothing, it is not known", async (t) => {
  const asked: unknown[] = [];
  t.is(await createOwnCounters(nodesOf(async () => 12, undefined, asked))(recorded), 12n);
  t.like(asked[0], { chain: 'eth', from: '0xa', to: '0xb', amount: 5n, kind: 'payment' });
  t.is(await createOwnCounters(nodesOf(async () => 2n ** 60n))(recorded), 2n ** 60n);
  t.is(
    await createOwnCounters(nodesOf(async () => ({ latest: 11, pending: 14 })))(recorded),
    14n,
    'behind what waits in its pool',
  );
  t.is(await createOwnCounters(nodesOf(async () => null))(recorded), null);
  t.is(
    await createOwnCounters(nodesOf(async () => 1))({
      ...recorded,
      instruction: { ...recorded.instruction, chain: 'bsc' },
    }),
    null,
  );
  for (const error of [new ChainUnavailable('eth', 'silent'), new MalformedReply('a nonce', '{}')]) {
    t.is(await createOwnCounters(nodesOf(() => Promise.reject(error)))(recorded), null);
    t.is(
      await createOwnCounters(
        nodesOf(
          async () => 12,
          () => Promise.reject(error),
        ),
      )(recorded),
      null,
      'a node of another network',
    );
  }
  await t.throwsAsync(createOwnCounters(nodesOf(() => Promise.reject(new TypeError('a bug'))))(recorded), {
    instanceOf: TypeError,
  });
});

test('found F8, and a counter that was skipped: the window ends with the next one of own history or own node; without a node with what replicas may have signed', (t) => {
  const sourceOf = (highest: bigint | null): PolicySource => ({
    instructions: {
      highestCounter: () => highest,
      signaturesOf: () => [],
      signaturesUnder: () => [],
    } as unknown as Instructions,
    own: { paths: () => ({ gasTank: null, treasury: null }), addressAt: () => null } as unknown as OwnAddresses,
    fees: DEFAULT_FEE_SETTINGS,
    firstNonceMax: 9n,
    sweepTreasuries: new Map(),
    btcSweeps: false,
    bridgeCaps: new Map(),
    catalogueOf,
    nowMs: () => 1,
  });
  const windowOf = (highest: bigint | null, nextAtNode: bigint | null) =>
    signingPolicyOf(sourceOf(highest), recorded, { released: new Set(), nextAtNode });
  t.deepEqual(windowOf(10n, 11n).replayWindow, { from: 0n, to: 11n }, 'a jump to 30 is refused');
  t.deepEqual(windowOf(3n, 500n).replayWindow, { from: 0n, to: 500n }, 'replicas signed what the node has');
  t.deepEqual(windowOf(20n, 11n).replayWindow, { from: 0n, to: 21n }, 'the node lags behind what was signed here');
  t.deepEqual(windowOf(null, 500n).replayWindow, { from: 0n, to: 500n });
  t.deepEqual(windowOf(3n, null).replayWindow, { from: 0n, to: 1_027n });
  t.like(windowOf(null, null), { replayWindow: null, firstNonceMax: 9n });
  t.deepEqual(
    [null, 0n, 5n, 6n, 7n, 30n].map((highest) => isAheadOfOwn(sourceOf(highest), recorded)),
    [true, true, true, false, false, false],
    'the node is asked about 7',
  );
  const coins = {
    ...recorded,
    unsigned: { ...recorded.unsigned, replayKey: { kind: 'outpoints', value: [] } },
  } as RecordedInstruction;
  t.false(isAheadOfOwn(sourceOf(null), coins), 'nothing is asked where there is no counter');
});
