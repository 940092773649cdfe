/** Withdrawals of a chain that spends outputs: coins are held until their withdrawal ends. B19. */
import test from 'ava';
import type { AccountCommand } from '../../../model/account/capabilities.ts';
import { btc } from '../../../chains/btc/index.ts';
import { outpointOf, type Coin } from '../../../chains/btc/coin.ts';
import type { ChainModule, Unsigned } from '../../../chains/chain.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import { commands, enrolled, pushedKey, txn, type TestAccount } from '../../support/account.ts';
import { coinOf, inputsOf, RECIPIENT, scriptFor } from '../../support/btc-inputs.ts';

function account(purpose: AddressRow['purpose']): { account: TestAccount; from: AddressRow } {
  const opened = enrolled({ modules: [btc as ChainModule] }, { keys: [pushedKey('btc')] });
  const row = opened.accept(commands.createAddress({ chain: 'btc', userRef: 'u-1' })).reply;
  return { account: opened, from: { ...row, purpose } };
}

function build(
  from: AddressRow,
  coins: readonly Coin[],
  amount: bigint,
): Extract<AccountCommand, { type: 'build_withdrawal' }> {
  return {
    type: 'build_withdrawal',
    id: txn(),
    from,
    tokenSymbol: 'BTC',
    decimals: 8,
    inputs: inputsOf({ coins }),
    intent: {
      chain: 'btc',
      from: from.address,
      fromPath: from.derivationPath,
      to: RECIPIENT,
      amount,
      token: null,
      tag: null,
    },
  };
}
const outpoints = ({ replayKey }: Unsigned) => (replayKey.kind === 'outpoints' ? replayKey.value : []);

test('B19 two builds of one address take different coins; found F43: when none is left those that nobody signed give way', (t) => {
  const { account: opened, from } = account('treasury'),
    script = scriptFor(from.address);
  const coins = [coinOf(900_000n, { script }), coinOf(500_000n, { script })];
  const first = opened.accept(build(from, coins, 100_000n)).reply;
  const second = opened.accept(build(from, coins, 100_000n)).reply;
  t.deepEqual(
    [first, second].map(({ unsigned }) => outpoints(unsigned)),
    coins.map((coin) => [outpointOf(coin)]),
  );
  t.deepEqual(
    Object.keys(opened.state.counters[`btc:${from.address}`]!.inFlight).toSorted(),
    coins.map(outpointOf).toSorted(),
  );
  const { events } = opened.accept(build(from, coins, 100_000n));
  t.deepEqual(events.map((event) => [event.type, 'id' in event && event.id]).slice(0, 2), [
    ['withdrawal_expired', first.id],
    ['withdrawal_expired', second.id],
  ]);
  t.is(opened.decide(build(from, coins, 2_000_000n)).ok, false, 'no coins for it at all: nothing gives way');
  t.is(Object.keys(opened.state.counters[`btc:${from.address}`]!.inFlight).length, 1);
});

test('found F43: the only coin of an address is not locked by a build that nobody signed', (t) => {
  const { account: opened, from } = account('deposit'),
    coins = [coinOf(900_000n, { script: scriptFor(from.address) })];
  const first = opened.accept(build(from, coins, 100_000n)).reply;
  const second = opened.accept(build(from, coins, 200_000n)).reply;
  t.deepEqual(outpoints(second.unsigned), outpoints(first.unsigned));
});
