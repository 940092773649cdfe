/**
 * found: one endpoint's word decided what a payment was built on. What two must agree on, family by family.
 * docs/chains/endpoints.md.
 */
import test from 'ava';
import type { Agreement } from '../../../chains/chain.ts';
import type { BuildInputs, Intent } from '../../../chains/chain.ts';
import { btc } from '../../../chains/btc/index.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { evm } from '../../../chains/evm/index.ts';
import { eth } from '../../../chains/evm/network.ts';
import { sol } from '../../../chains/sol/index.ts';
import { solana } from '../../../chains/sol/network.ts';
import { tron } from '../../../chains/tron/index.ts';
import { tron as tronNetwork } from '../../../chains/tron/network.ts';
import { xlm } from '../../../chains/xlm/index.ts';
import { stellar } from '../../../chains/xlm/network.ts';
import { xrp } from '../../../chains/xrp/index.ts';
import { xrp as xrpNetwork } from '../../../chains/xrp/network.ts';
import * as btcInputs from '../../support/btc-inputs.ts';
import * as evmInputs from '../../support/evm-inputs.ts';
import * as solInputs from '../../support/sol-inputs.ts';
import * as tronInputs from '../../support/tron-inputs.ts';
import * as xlmInputs from '../../support/xlm-inputs.ts';
import * as xrpInputs from '../../support/xrp-inputs.ts';

/**
 * Names a difference, what two that differ so come to (what is contradicted, or a part of the inputs that are built
 * with).
 */
type Row<Inputs> = readonly [
  what: string,
  more: Partial<Inputs>,
  comesTo: readonly string[] | Partial<Inputs & BuildInputs>,
  intent?: Partial<Intent>,
];

function check<Inputs extends BuildInputs>(
  title: string,
  honest: Inputs,
  intent: Intent,
  agree: (a: Inputs, b: Inputs, intent: Intent) => Agreement<Inputs>,
  rows: readonly Row<Inputs>[],
): void {
  test(title, (t) => {
    t.deepEqual(agree(honest, honest, intent), { ok: true, inputs: honest });
    for (const [what, more, comesTo, asked] of rows) {
      const other = { ...honest, ...more },
        wish = { ...intent, ...asked };
      for (const agreement of [agree(honest, other, wish), agree(other, honest, wish)]) {
        if (Array.isArray(comesTo))
          t.deepEqual(agreement.ok ? 'agreed' : [...agreement.about].sort(), [...(comesTo as string[])].sort(), what);
        else t.like(agreement.ok ? agreement.inputs : agreement, comesTo as object, what);
      }
    }
  });
}

const evmHonest = evmInputs.inputsOf();
check(
  'found: evm: funds, destination and fee; the counter is the lower one',
  evmHonest,
  evmInputs.intentOf(),
  (a, b, i) => evm.agreeInputs!(eth, a, b, i),
  [
    ['nonce', { nonceLatest: 30 }, { nonceLatest: 7, counter: 'disputed' }],
    ['pending', { noncePending: 30 }, { noncePending: 7, nonceLatest: 7 }],
    ['funds', { nativeBalance: '0' }, ['balance', 'feeBalance']],
    ['more than enough', { nativeBalance: '9999999999999999999' }, { nonceLatest: 7 }],
    ['a send-all is exact', { nativeBalance: '9999999999999999999' }, ['balance'], { amount: 'all' }],
    ['code', { gas: { kind: 'estimated', units: '60000' } }, ['destination']],
    ['fee', { baseFeePerGas: '900000000000' }, ['fee']],
  ],
);

const xrpHonest = xrpInputs.inputsOf(),
  xrpIntent: Intent = { chain: 'xrp', from: 'rA', fromPath: 'm', to: 'rB', amount: 1_000_000n, token: null, tag: null };
check(
  'found: xrp: account, tag, reserve, head and funds; the sequence is the lower one',
  xrpHonest,
  xrpIntent,
  (a, b, i) => xrp.agreeInputs!(xrpNetwork, a, b, i),
  [
    ['sequence', { sender: { ...xrpHonest.sender!, sequence: 30 } }, { sender: xrpHonest.sender, counter: 'disputed' }],
    ['tickets', { sender: { ...xrpHonest.sender!, tickets: [3] } }, { sender: xrpHonest.sender }],
    ['no sender', { sender: null }, ['sender', 'balance', 'feeBalance']],
    ['no destination', { destination: null }, ['destination', 'destinationTag', 'destinationTakes']],
    ['tag', { destination: { ...xrpHonest.destination!, requiresTag: true } }, ['destinationTag']],
    ['deposits', { destination: { ...xrpHonest.destination!, takesDeposits: false } }, ['destinationTakes']],
    ['reserve', { reserveBaseDrops: '1' }, ['reserve']],
    ['head', { readAtHeight: 90_000_002 }, { readAtHeight: 90_000_000 }],
    ['invented head', { readAtHeight: 90_001_000 }, ['head']],
    ['fee', { openLedgerFeeDrops: '5000' }, ['fee']],
  ],
);

const from = 'GA',
  xlmHonest = xlmInputs.inputsOf(from),
  account = xlmInputs.accountOf();
const xlmIntent: Intent = { chain: 'xlm', from, fromPath: 'm', to: 'GB', amount: 10_000_000n, token: null, tag: null };
check(
  'found: xlm: sequence, account, memo, reserve, head and funds',
  xlmHonest,
  xlmIntent,
  (a, b, i) => xlm.agreeInputs!(stellar, a, b, i),
  [
    ['sequence', { sender: { ...account, sequence: '30' } }, ['sequence']],
    ['memo', { destination: { ...account, memoRequired: true } }, ['destinationMemo']],
    ['no destination', { destination: null }, ['destination', 'destinationMemo']],
    ['reserve', { baseReserve: '1' }, ['reserve']],
    [
      'head',
      { closeTime: xlmHonest.closeTime + 5, readAtHeight: 50_000_001 },
      { closeTime: xlmHonest.closeTime, readAtHeight: 50_000_000 },
    ],
    ['invented head', { closeTime: xlmHonest.closeTime + 3_600 }, ['head']],
    ['fee', { marketFee: '100000' }, ['fee']],
  ],
);

const tronHonest = tronInputs.inputsOf(),
  tronIntent: Intent = { chain: 'tron', from: 'TA', fromPath: 'm', to: 'TB', amount: 1_000n, token: null, tag: null };
check(
  'found: tron: accounts, prices, trial, head and funds',
  tronHonest,
  { ...tronIntent, from: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', to: 'TVjsyZ7fYF3qLF6BQgPmTEZy1xrNNyVAAA' },
  (a, b, i) => tron.agreeInputs!(tronNetwork, a, b, i),
  [
    ['no sender', { senderExists: false }, ['sender']],
    ['prices', { prices: { ...tronHonest.prices, energySun: '210' } }, ['prices']],
    ['head', { headTimeMs: tronInputs.HEAD_MS + 6_000 }, { headTimeMs: tronInputs.HEAD_MS }],
    ['invented head', { headTimeMs: tronInputs.HEAD_MS + 3_600_000 }, ['head']],
    ['funds', { nativeBalance: '0' }, ['balance', 'feeBalance']],
  ],
);

check(
  'found: sol: accounts, destination, rent, expiry and funds',
  solInputs.inputsOf(),
  solInputs.intentOf(),
  (a, b, i) => sol.agreeInputs!(solana, a, b, i),
  [
    ['destination', { destination: { kind: 'dead_end', what: 'a mint' } }, ['destination']],
    ['rent', { rentExempt: '1' }, ['rent']],
    ['expiry', { lastValidBlockHeight: 1_160, blockhash: 'x' }, { readAtHeight: 5_000 }],
    ['invented expiry', { lastValidBlockHeight: 9_000 }, ['expiry']],
    ['funds', { senderLamports: '0', payerLamports: '0' }, ['balance', 'feeBalance']],
    ['no wallet', { senderIsWallet: false }, ['sender']],
  ],
);

const btcHonest = btcInputs.inputsOf(),
  [coin] = btcHonest.coins;
const change = btcInputs.coinOf(500_000n, { height: null });
check(
  'found: btc: confirmed coins, head and rate; what one node calls spent is spent by no build',
  btcHonest,
  btcInputs.intentOf(),
  (a, b, i) => btc.agreeInputs!(bitcoin, a, b, i),
  [
    ['a coin more', { coins: [coin!, btcInputs.coinOf(5n)] }, ['coins']],
    ['no coin', { coins: [] }, ['coins']],
    ['another value', { coins: [{ ...coin!, valueSats: '2000000' }] }, ['coins']],
    ['change of one pool', { coins: [coin!, change] }, { coins: [coin!] }],
    ['spent in one pool', { coins: [{ ...coin!, spender: 'hidden' }] }, { coins: [{ ...coin!, spender: 'hidden' }] }],
    ['no estimate', { estimateSatPerKvb: null }, { estimateSatPerKvb: '10000' }],
    ['fee', { estimateSatPerKvb: '900000' }, ['fee']],
    ['head', { readAtHeight: 900_000 }, ['head']],
  ],
);
