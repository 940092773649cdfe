/**
 * Bitcoin as a simulated ledger: every payment is a transaction of real bytes, coins are what its outputs leave
 * unspent, blocks look as a node answers them at verbosity 3. A sender's coins are all of its own history.
 */
import { Transaction } from 'bitcoinjs-lib';
import type { Block, BuildInputs, Intent, Network, Signed, Unsigned } from '../../chains/chain.ts';
import { bytesOf } from '../../chains/btc/address.ts';
import { balanceOf } from '../../chains/btc/balance.ts';
import { outpointOf, type BtcInputs, type Coin, type Spender } from '../../chains/btc/coin.ts';
import { outpointsSpentBy } from '../../chains/btc/coins.ts';
import { btcOf, type BtcNetwork } from '../../chains/btc/network.ts';
import { decodePsbt } from '../../chains/btc/psbt.ts';
import { addressOf, hash160, outputOf } from '../../chains/btc/script.ts';
import { decodeRaw } from '../../chains/btc/signed.ts';
import { dustLimitOf, feeOf } from '../../chains/btc/size.ts';
import { isUnlocked, type Spent } from '../../chains/btc/spending.ts';
import type { BtcBlock } from '../../chains/btc/transfers.ts';
import type { SandboxBlock, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Bid, DepositAsk, ReadPayload, SenderView, SimulatedFamily } from './family.ts';

/** Choice: a steady rate, so that a sandbox fee can be foretold, and the relay rates that most nodes have. */
const ESTIMATE_SAT_PER_KVB = 5_000n;
const RELAY_SAT_PER_KVB = 1_000n;
/** Fee that a payer from outside is said to have paid, satoshi. */
const OUTSIDE_FEE_SATS = 1_410n;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export const simulatedBtc: SimulatedFamily = {
  family: 'btc',
  keepsOutputs: true,
  hashText: hex,
  deposit: depositOf,
  render: (network, block) => renderBlock(btcOf(network), block) as Block,
  balanceOf: (_network, amount) => balanceOf(amount === 0n ? [] : [{ amount, confirmations: 1, coinbase: false }]),
  buildInputs: inputsOf,
  read: (network, signed) => readPayload(btcOf(network), signed),
  displaces,
  rivalOf,
  deathOf,
};

/**
 * A payment from an output that nobody here knows; the seed makes its txid its own. Refuses: CHAIN_REJECTED for dust.
 */
function depositOf(_network: Network, { to, amount, seed }: DepositAsk): SandboxTransaction | Refusal {
  const script = bytesOf(to),
    dust = dustLimitOf(script);
  if (amount < dust) {
    return refuse('CHAIN_REJECTED', { reason: 'dust', amount: amount.toString(), minimum: dust.toString() });
  }
  const transaction = new Transaction();
  transaction.version = 2;
  transaction.addInput(seed, 0);
  transaction.addOutput(script, amount);
  return {
    txid: transaction.getId(),
    success: true,
    reason: null,
    fee: OUTSIDE_FEE_SATS.toString(),
    from: null,
    nonce: null,
    transfers: [{ outputIndex: 0, to, amount: amount.toString(), tokenContract: null }],
    raw: transaction.toHex(),
  };
}

/** Bytes of a transaction of this ledger. Throws: Error for one that was stored without. */
function bytesIn({ txid, raw }: SandboxTransaction): Transaction {
  const transaction = decodeRaw(raw ?? '');
  if (transaction === null) throw new Error(`transaction ${txid} of a sandbox ledger has no bytes`);
  return transaction;
}

function renderBlock(
  network: BtcNetwork,
  { height, hash, parentHash, timeMs, transactions }: SandboxBlock,
): Block<BtcBlock> {
  const raw: BtcBlock = {
    hash,
    height,
    previousblockhash: parentHash,
    tx: transactions.map((one) => renderTransaction(network, one)),
  };
  return { height, hash, parentHash, parentHeight: Math.max(0, height - 1), timeMs, raw };
}

function renderTransaction(network: BtcNetwork, stored: SandboxTransaction): object {
  const transaction = bytesIn(stored),
    { txid, fee, from } = stored;
  const worth = spentAmountsOf(stored, transaction);
  return {
    txid,
    fee: coinText(network, BigInt(fee)),
    vin: outpointsSpentBy(transaction).map((outpoint, index) => {
      const [of = '', vout = ''] = outpoint.split(':');
      const prevout =
        from === null
          ? {}
          : { prevout: { value: coinText(network, worth[index]!), scriptPubKey: { hex: hex(bytesOf(from)) } } };
      return { txid: of, vout: Number(vout), ...prevout };
    }),
    vout: transaction.outs.map(({ value, script }, n) => ({
      value: coinText(network, value),
      n,
      scriptPubKey: { hex: hex(script) },
    })),
  };
}

/**
 * What the inputs are worth, satoshi. One that was stored before this was kept says their sum: the first stands for
 * all.
 */
function spentAmountsOf({ fee, spentAmounts }: SandboxTransaction, { ins, outs }: Transaction): bigint[] {
  if (spentAmounts !== undefined) return spentAmounts.map(BigInt);
  const sum = outs.reduce((total, { value }) => total + value, BigInt(fee));
  return ins.map((_, index) => (index === 0 ? sum : 0n));
}

/** An amount as the node writes it. */
function coinText({ nativeDecimals }: BtcNetwork, amount: bigint): string {
  const digits = amount.toString().padStart(nativeDecimals + 1, '0');
  return `${digits.slice(0, -nativeDecimals)}.${digits.slice(-nativeDecimals)}`;
}

/** What the sender's history leaves unspent. */
function coinsOf({ history = [] }: SenderView, script: Uint8Array): Map<string, Coin> {
  const coins = new Map<string, Coin>();
  for (const { height, transaction: stored } of history) {
    const transaction = bytesIn(stored),
      { txid, raw = null } = stored;
    for (const outpoint of outpointsSpentBy(transaction)) coins.delete(outpoint);
    transaction.outs.forEach((output, vout) => {
      if (Buffer.compare(output.script, script) !== 0) return;
      const coin: Coin = {
        txid,
        vout,
        valueSats: output.value.toString(),
        height,
        coinbase: false,
        spender: null,
        previous: raw,
      };
      coins.set(outpointOf(coin), coin);
    });
  }
  return coins;
}

/** The coins of blocks and of the sender's own change in the pool, with what spends them there. */
function withPool(view: SenderView, script: Uint8Array): Map<string, Coin> {
  const coins = coinsOf(view, script),
    { pooled = [] } = view;
  for (const stored of pooled) {
    const transaction = bytesIn(stored),
      spender = spenderOf(stored, pooled);
    for (const outpoint of outpointsSpentBy(transaction)) {
      const coin = coins.get(outpoint);
      if (coin !== undefined) coins.set(outpoint, { ...coin, spender });
    }
    transaction.outs.forEach((output, vout) => {
      if (Buffer.compare(output.script, script) !== 0) return;
      const { txid, raw = null } = stored;
      const coin: Coin = {
        txid,
        vout,
        valueSats: output.value.toString(),
        height: null,
        coinbase: false,
        spender: null,
        previous: raw,
      };
      coins.set(outpointOf(coin), coin);
    });
  }
  return coins;
}

/** A pooled transaction with its descendants; `pooled` holds parents before their children. */
function spenderOf(stored: SandboxTransaction, pooled: readonly SandboxTransaction[]): Spender {
  const family = new Map([[stored.txid, stored]]);
  for (const one of pooled) {
    if ((one.spends ?? []).some((outpoint) => family.has(outpoint.split(':')[0]!))) family.set(one.txid, one);
  }
  return {
    txid: stored.txid,
    feeSats: stored.fee,
    vsize: bytesIn(stored).virtualSize(),
    descendantCount: family.size,
    descendantFeeSats: [...family.values()].reduce((sum, { fee }) => sum + BigInt(fee), 0n).toString(),
  };
}

function inputsOf(_network: Network, intent: Intent, view: SenderView): BtcInputs & BuildInputs {
  return {
    readAtHeight: view.height,
    readAtHash: view.hash,
    coins: [...withPool(view, bytesOf(intent.from)).values()],
    estimateSatPerKvb: ESTIMATE_SAT_PER_KVB.toString(),
    mempoolMinSatPerKvb: RELAY_SAT_PER_KVB.toString(),
    relayMinSatPerKvb: RELAY_SAT_PER_KVB.toString(),
    incrementalSatPerKvb: RELAY_SAT_PER_KVB.toString(),
  };
}

const rejected = (reason: string, more: Record<string, unknown> = {}): Refusal =>
  refuse('CHAIN_REJECTED', { reason, ...more });

/** The sender is who the first input's key pays: sandbox accounts have addresses of one key hash only. */
function readPayload(network: BtcNetwork, signed: Signed): ReadPayload | Refusal {
  const transaction = decodeRaw(signed.payload);
  if (transaction === null) return rejected('TX decode failed');
  const txid = transaction.getId();
  if (txid !== signed.txid) return rejected('the txid is not the hash of the payload', { txid }); // G28
  const publicKey = transaction.ins[0]?.witness[1];
  if (publicKey === undefined) return rejected('mempool-script-verify-flag-failed');
  const from = addressOf(network.prefixes, { kind: 'p2wpkh', program: hash160(publicKey) });
  return {
    from,
    nonce: null,
    tokenContract: null,
    spends: outpointsSpentBy(transaction),
    run: (view) => run(network, transaction, from, view),
  };
}

/** All its coins back to who spends them. Nobody signed it, and a ledger verifies what is broadcast only. */
function rivalOf(_network: Network, one: SandboxTransaction, seed: Uint8Array): SandboxTransaction {
  const spent = bytesIn(one),
    amount = spentAmountsOf(one, spent).reduce((rest, value) => rest + value, -BigInt(one.fee));
  const rival = new Transaction();
  rival.version = 2;
  rival.locktime = spent.locktime === 0 ? 1 : 0; // Another txid, whatever the other one pays.
  for (const { hash, index, sequence } of spent.ins) rival.addInput(hash, index, sequence);
  rival.ins[0]!.witness = [seed];
  rival.addOutput(bytesOf(one.from!), amount);
  return {
    ...one,
    txid: rival.getId(),
    success: true,
    reason: null,
    transfers: [{ outputIndex: 0, to: one.from!, amount: amount.toString(), tokenContract: null }],
    raw: rival.toHex(),
    spentAmounts: spentAmountsOf(one, spent).map(String),
  };
}

/** The checks of a node's pool, in its order and words (chains.md 4.2). */
function run(
  network: BtcNetwork,
  transaction: Transaction,
  from: string,
  view: SenderView,
): ReturnType<ReadPayload['run']> {
  const coins = coinsOf(view, bytesOf(from)),
    spent: Spent[] = [];
  if (transaction.locktime > view.height) return { unknown: 'non-final' };
  if (transaction.outs.some(({ script, value }) => value < dustLimitOf(script))) return rejected('dust');
  for (const outpoint of outpointsSpentBy(transaction)) {
    const coin = coins.get(outpoint);
    if (coin === undefined) return { unknown: 'bad-txns-inputs-missingorspent' };
    spent.push({ script: bytesOf(from), value: BigInt(coin.valueSats) });
  }
  const fee = transaction.outs.reduce(
    (rest, { value }) => rest - value,
    spent.reduce((sum, { value }) => sum + value, 0n),
  );
  if (fee < 0n) return rejected('bad-txns-in-belowout');
  const least = feeOf(RELAY_SAT_PER_KVB, transaction.virtualSize());
  if (fee < least) return rejected(`min relay fee not met, ${fee} < ${least}`, { action: 'reprice' });
  if (!spent.every((_, index) => isUnlocked(transaction, index, spent, network))) {
    return rejected('mempool-script-verify-flag-failed');
  }
  const transfers = transaction.outs.flatMap(({ script, value }, outputIndex) => {
    const output = outputOf(script);
    return output === null
      ? []
      : [{ outputIndex, to: addressOf(network.prefixes, output), amount: value.toString(), tokenContract: null }];
  });
  return {
    txid: transaction.getId(),
    success: true,
    reason: null,
    fee: fee.toString(),
    from,
    nonce: null,
    transfers,
    raw: transaction.toHex(),
    spends: outpointsSpentBy(transaction),
    spentAmounts: spent.map(({ value }) => value.toString()),
  };
}

/** B16 (3), (4): more than all it displaces by the relay rate of its own size, at a higher rate than each. */
function displaces({ transaction }: Bid, older: readonly Bid[]): Refusal | null {
  const sizeOf = (stored: SandboxTransaction) => BigInt(bytesIn(stored).virtualSize());
  const fee = BigInt(transaction.fee),
    size = sizeOf(transaction);
  const replaced = older.reduce((sum, bid) => sum + BigInt(bid.transaction.fee), 0n);
  const isDearer = older.every((bid) => fee * sizeOf(bid.transaction) > BigInt(bid.transaction.fee) * size);
  const isEnough = fee >= replaced + feeOf(RELAY_SAT_PER_KVB, Number(size));
  return isDearer && isEnough ? null : rejected('insufficient fee, rejecting replacement', { action: 'reprice' });
}

/** G27: a coin of the payload is spent by another transaction. */
function deathOf({ payload, from }: Unsigned, view: SenderView): string | null {
  const decoded = decodePsbt(payload);
  if (!decoded.ok) throw new Error('a payload of ours does not decode');
  const coins = coinsOf(view, bytesOf(from));
  const gone = decoded.psbt.inputs.map(outpointOf).find((outpoint) => !coins.has(outpoint));
  const by = (view.history ?? []).find(
    ({ transaction }) => gone !== undefined && outpointsSpentBy(bytesIn(transaction)).includes(gone),
  );
  return by === undefined ? null : `${gone} was spent by ${by.transaction.txid} at height ${by.height}`;
}
