/** Withdrawals of a chain that spends outputs: coins are held until their withdrawal ends. B19. */
import test from 'ava';
import type { AccountCommand } from '../../../actors/account/messages.ts';
import { btc } from '../../../chains/btc/index.ts';
import { outpointOf, type Coin } from '../../../chains/btc/coin.ts';
import type { ChainModule, Unsigned } from '../../../chains/chain.ts';
import type { AddressRow } from '../../../persistence/rows.ts';
import { commands, enrolled, pushedKey, txn, type TestAccount } from '../../support/account.ts';
import { coinOf, inputsOf, RECIPIENT, scriptFor } from '../../support/btc-inputs.ts';

function account(purpose: AddressRow['purpose']): { account: TestAccount; from: AddressRow } {
  const opened = enrolled({ modules: [btc as ChainModule] }, { keys: [pushedKey('btc')] });
  const row = opened.accept(commands.createAddress({ chain: 'btc', userRef: 'u-1' })).reply;
  return { account: opened, from: { ...row, purpose } };
}

function build(from: AddressRow, coins: readonly Coin[], amount: bigint): Extract<AccountCommand, { type: 'build_withdrawal' }> {
  return {
    type: 'build_withdrawal', id: txn(), from, tokenSymbol: 'BTC', decimals: 8, inputs: inputsOf({ coins }),
    intent: { chain: 'btc', from: from.address, fromPath: from.derivationPath, to: RECIPIENT, amount, token: null, tag: null },
  };
}
const outpoints = ({ replayKey }: Unsigned) => (replayKey.kind === 'outpoints' ? replayKey.value : []);

test('B19 two builds of one treasury take different coins; when none is left the second is refused, not the first harmed', (t) => {
  const { account: opened, from } = account('treasury'), script = scriptFor(from.address);
  const coins = [coinOf(900_000n, { script }), coinOf(500_000n, { script })];
  const first = opened.accept(build(from, coins, 100_000n)).reply;
  const second = opened.accept(build(from, coins, 100_000n)).reply;
  t.deepEqual([first, second].map(({ unsigned }) => outpoints(unsigned)), coins.map((coin) => [outpointOf(coin)]));
  t.deepEqual(Object.keys(opened.state.counters[`btc:${from.address}`]!.inFlight).toSorted(), coins.map(outpointOf).toSorted());
  t.is(opened.decide(build(from, coins, 100_000n)).ok, false);
  opened.accept({ type: 'abandon_withdrawal', known: first });
  const third = opened.accept(build(from, coins, 100_000n)).reply;
  t.deepEqual(outpoints(third.unsigned), [outpointOf(coins[0]!)], 'a coin of an abandoned build is free again');
});

test('B19 V40 a deposit address sends one at a time: an unsigned build gives way, with its coins', (t) => {
  const { account: opened, from } = account('deposit'), coins = [coinOf(900_000n, { script: scriptFor(from.address) })];
  const first = opened.accept(build(from, coins, 100_000n)).reply;
  const second = opened.accept(build(from, coins, 200_000n)).reply;
  t.deepEqual(outpoints(second.unsigned), outpoints(first.unsigned));
});
