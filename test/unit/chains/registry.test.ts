import test from 'ava';
import { CHAINS, EVM_CHAINS } from '../../../protocol/slugs.ts';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { factsOf, isEnabled, loadModule, networkOf } from '../../../chains/registry.ts';

/** decisions 3 and chains.md part 2. */
const THRESHOLDS = { btc: 3, eth: 12, bsc: 15, polygon: 128, avax: 12, base: 12, tron: 19, sol: 32, xrp: 1, xlm: 1 };

test('part 2: every slug has a network with its threshold, asset name and a window of G15', (t) => {
  for (const chain of CHAINS) {
    const network = networkOf(chain);
    t.is(network.slug, chain);
    t.is(network.threshold, THRESHOLDS[chain]);
    t.true(network.reorgWindow >= 2 * network.threshold);
    t.true(network.feeCap > 0n);
    t.regex(network.explorer.tx, /^https:\/\/.*\{id\}/);
  }
  t.deepEqual(
    CHAINS.map((chain) => networkOf(chain).nativeSymbol),
    ['BTC', 'ETH', 'BNB', 'POL', 'AVAX', 'ETH', 'TRX', 'SOL', 'XRP', 'XLM'],
  );
});

test('V42 a gas funding waits for the depth of its network before the sweep that it pays for', (t) => {
  t.deepEqual(
    EVM_CHAINS.map((chain) => networkOf(chain).fundingDepth),
    [3, 15, 16, 1, 6],
  );
});

test('G15 the EVM windows hold at least 256 blocks', (t) => {
  for (const chain of EVM_CHAINS) t.true(networkOf(chain).reorgWindow >= 256);
});

test('§1.6 the five EVM chains share facts, path and derivation; a module is loaded once for all of them', async (t) => {
  const modules = await Promise.all(EVM_CHAINS.map((chain) => loadModule(chain)));
  t.is(new Set(modules).size, 1);
  t.is(new Set(EVM_CHAINS.map((chain) => networkOf(chain).accountPath)).size, 1);
  t.is(new Set(EVM_CHAINS.map((chain) => factsOf(chain))).size, 1);
});

test('a chain that is not enabled answers CHAIN_UNAVAILABLE and nothing else', async (t) => {
  for (const chain of CHAINS.filter((slug) => !isEnabled(slug))) {
    await t.throwsAsync(() => loadModule(chain), { instanceOf: ChainUnavailable, message: /not enabled/ });
  }
  t.true(EVM_CHAINS.every(isEnabled));
});
