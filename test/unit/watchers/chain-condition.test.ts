/** `GET /v1/chains` and CHAIN_UNAVAILABLE: how a chain is, from how its endpoints are. */
import test from 'ava';
import fc from 'fast-check';
import { conditionOfChain } from '../../../chain-watchers/chain-condition.ts';
import type { EndpointView } from '../../../model/ports/chain-access.ts';
import { CHAINS, ENDPOINT_STATES, type ChainStatus, type EndpointState } from '../../../protocol/slugs.ts';

const view = (state: EndpointState, index: number): EndpointView => ({
  endpoint: `eth-${index + 1}`,
  state,
  reason: state === 'up' || state === 'unknown' ? null : `because ${state}`,
  next: state === 'down' ? 'start it' : null,
  network: state === 'wrong_network' ? { expected: '1', seen: '56' } : null,
  sinceMs: null,
  nextLookMs: null,
});

test('found F75: a chain is as its endpoints are: the table of pairs', (t) => {
  const table: readonly [EndpointState[], ChainStatus][] = [
    [['up'], 'ok'],
    [['unknown'], 'unknown'],
    [['down'], 'unavailable'],
    [['wrong_network'], 'wrong_network'],
    [['behind'], 'unavailable'],
    [['up', 'up'], 'ok'],
    [['up', 'unknown'], 'ok'],
    [['up', 'down'], 'degraded'],
    [['up', 'wrong_network'], 'degraded'],
    [['unknown', 'down'], 'degraded'],
    [['down', 'wrong_network'], 'unavailable'],
    [['wrong_network', 'wrong_network'], 'wrong_network'],
    [['stuck', 'ahead'], 'unavailable'],
  ];
  for (const [states, status] of table) {
    t.is(conditionOfChain('eth', states.map(view), null).status, status, states.join());
    t.like(conditionOfChain('eth', states.map(view), 'too deep'), { status: 'unavailable', setting: 'ETH_RPC_URLS' });
  }
  t.like(conditionOfChain('eth', [view('up', 0), view('wrong_network', 1)], null), {
    reason: 'eth-2: wrong_network, because wrong_network (expected 1, seen 56)',
    network: { expected: '1', seen: '56' },
  });
});

test('found F75: whatever is not well names the setting, a next step and each endpoint that is not; what is well names none', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CHAINS),
      fc.array(fc.constantFrom(...ENDPOINT_STATES), { minLength: 1, maxLength: 4 }),
      (chain, states) => {
        const { status, reason, setting, next, network } = conditionOfChain(chain, states.map(view), null);
        const bad = states.flatMap((state, index) =>
          state === 'up' || state === 'unknown' ? [] : [`eth-${index + 1}`],
        );
        t.is(status === 'ok' || status === 'unknown', bad.length === 0);
        if (bad.length === 0) return t.deepEqual([reason, setting, next, network], [null, null, null, null]);
        t.is(setting, `${chain.toUpperCase()}_RPC_URLS`);
        for (const one of bad) t.true(reason!.includes(one) && next !== '', `${reason} ${next}`);
        t.is(network !== null, states.includes('wrong_network'));
      },
    ),
    { numRuns: 200 },
  );
});
