/**
 * The methods of a Bitcoin Core 30 node over the ledger, with its real errors. A view is what one node has seen and
 * keeps. Source: bitcoin/bitcoin src/rpc/.
 */
import type { Transaction } from 'bitcoinjs-lib';
import { Amount } from './json.ts';
import type { LedgerBlock } from './block.ts';
import { RpcFailure, type BtcLedger, type PoolEntry } from './ledger.ts';
import { blockShape, headerShape, scriptShape, transactionShape } from './shapes.ts';

export interface View {
  readonly ledger: BtcLedger;
  /** Newest block that this node has. */
  tip(): LedgerBlock;
  /** Keeps an index of all transactions (`-txindex`). */
  readonly indexed: boolean;
  /** Blocks below this height are pruned. */
  readonly prunedBelow: number;
  readonly genesisHash: string;
  /** Answer of `estimatesmartfee`, satoshi per kvB; null: not enough data. */
  readonly estimateSatPerKvb: bigint | null;
  /** Methods that this node does not have. */
  readonly without: ReadonlySet<string>;
  readonly syncing: boolean;
  /** How far its index of block filters is; null: it keeps none. */
  readonly filteredTo: number | null;
  /** Blocks that `scanblocks` names although they have nothing, as filters do now and then. */
  readonly falseMatches: readonly string[];
}

type Params = readonly unknown[];
type Method = (view: View, params: Params) => unknown;

const text = (params: Params, at: number): string => String(params[at] ?? '');

function heightIn(view: View, params: Params): number {
  const height = Number(params[0]);
  if (!(height >= 0 && height <= view.tip().height)) throw new RpcFailure(-8, 'Block height out of range');
  return height;
}

function blockIn(view: View, hash: string): LedgerBlock {
  const block = view.ledger.blockOf(hash);
  if (block === undefined || (block.height > view.tip().height && view.ledger.blockAt(block.height) === block)) {
    throw new RpcFailure(-5, 'Block not found');
  }
  return block;
}

function wholeBlock(view: View, hash: string): LedgerBlock {
  const block = blockIn(view, hash);
  if (block.height < view.prunedBelow) throw new RpcFailure(-1, 'Block not available (pruned data)');
  return block;
}

function pooled(view: View, txid: string): PoolEntry {
  const entry = view.ledger.pool.get(txid);
  if (entry === undefined) throw new RpcFailure(-5, 'Transaction not in mempool');
  return entry;
}

const find = (block: LedgerBlock, txid: string): Transaction | undefined =>
  block.transactions.find((one) => one.getId() === txid);

const METHODS: Readonly<Record<string, Method>> = {
  getblockchaininfo(view) {
    const { height, hash, time } = view.tip();
    return {
      chain: 'main',
      blocks: height,
      headers: view.syncing ? height + 1_000 : height,
      bestblockhash: hash,
      bits: '1d00ffff',
      difficulty: 1,
      time,
      mediantime: time,
      verificationprogress: 1,
      initialblockdownload: view.syncing,
      chainwork: '0'.repeat(64),
      size_on_disk: 1,
      pruned: view.prunedBelow > 0,
      ...(view.prunedBelow > 0 ? { pruneheight: view.prunedBelow } : {}),
      warnings: [],
    };
  },
  getblockcount: (view) => view.tip().height,
  getbestblockhash: (view) => view.tip().hash,
  getblockhash(view, params) {
    const height = heightIn(view, params);
    return height === 0 ? view.genesisHash : view.ledger.blockAt(height)!.hash;
  },
  getblockheader: (view, params) => headerShape(view.ledger, blockIn(view, text(params, 0)), view.tip().height),
  getblock(view, params) {
    const block = wholeBlock(view, text(params, 0)),
      verbosity = Number(params[1] ?? 1);
    return blockShape(view.ledger, block, view.tip().height, verbosity);
  },
  gettxout(view, params) {
    const [txid, vout, inPool = true] = params,
      outpoint = `${String(txid)}:${String(vout)}`,
      tip = view.tip();
    const coin = view.ledger.coinsAt(tip.height).get(outpoint);
    const output = view.ledger.pool.get(String(txid))?.transaction.outs[Number(vout)];
    if (inPool === true && view.ledger.spenderOf(outpoint) !== undefined) return null;
    const shape = (script: Uint8Array, value: bigint, confirmations: number, coinbase: boolean) => ({
      bestblock: tip.hash,
      confirmations,
      value: new Amount(value),
      scriptPubKey: scriptShape(script),
      coinbase,
    });
    if (coin !== undefined) return shape(coin.script, coin.value, tip.height - coin.height + 1, coin.coinbase);
    return inPool === true && output !== undefined ? shape(output.script, output.value, 0, false) : null;
  },
  getrawtransaction: rawTransaction,
  getrawmempool: (view) => [...view.ledger.pool.keys()],
  getmempoolentry(view, params) {
    const entry = pooled(view, text(params, 0)),
      descendants = view.ledger.descendantsOf(entry);
    const sum = descendants.reduce((fees, { feeSats }) => fees + feeSats, 0n),
      base = new Amount(entry.feeSats);
    return {
      vsize: entry.vsize,
      weight: entry.transaction.weight(),
      time: view.tip().time,
      height: view.tip().height,
      descendantcount: descendants.length,
      descendantsize: descendants.reduce((size, { vsize }) => size + vsize, 0),
      ancestorcount: 1,
      ancestorsize: entry.vsize,
      wtxid: entry.txid,
      fees: { base, modified: base, ancestor: base, descendant: new Amount(sum) },
      depends: [],
      spentby: [],
      'bip125-replaceable': true,
      unbroadcast: false,
    };
  },
  gettxspendingprevout: (view, params) =>
    (params[0] as { txid: string; vout: number }[]).map(({ txid, vout }) => {
      const spender = view.ledger.spenderOf(`${txid}:${vout}`);
      return { txid, vout, ...(spender === undefined ? {} : { spendingtxid: spender.txid }) };
    }),
  getmempoolinfo: ({ ledger: { pool, relayMinSatPerKvb, incrementalSatPerKvb } }) => ({
    loaded: true,
    size: pool.size,
    bytes: 0,
    usage: 0,
    total_fee: new Amount(0n),
    maxmempool: 300_000_000,
    mempoolminfee: new Amount(relayMinSatPerKvb),
    minrelaytxfee: new Amount(relayMinSatPerKvb),
    incrementalrelayfee: new Amount(incrementalSatPerKvb),
    unbroadcastcount: 0,
    fullrbf: true,
  }),
  getnetworkinfo: ({ ledger: { relayMinSatPerKvb, incrementalSatPerKvb } }) => ({
    version: 300_000,
    subversion: '/Satoshi:30.0.0/',
    connections: 8,
    networkactive: true,
    relayfee: new Amount(relayMinSatPerKvb),
    incrementalfee: new Amount(incrementalSatPerKvb),
    warnings: [],
  }),
  estimatesmartfee: ({ estimateSatPerKvb }, params) =>
    estimateSatPerKvb === null
      ? { errors: ['Insufficient data or no feerate found'], blocks: Number(params[0]) }
      : { feerate: new Amount(estimateSatPerKvb), blocks: Number(params[0]) },
  sendrawtransaction: (view, params) => view.ledger.submit(text(params, 0)),
  testmempoolaccept: (view, params) =>
    (params[0] as string[]).map((hex) => {
      try {
        const { txid, vsize, feeSats } = view.ledger.examine(hex);
        return { txid, wtxid: txid, allowed: true, vsize, fees: { base: new Amount(feeSats) } };
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        return { txid: '', wtxid: '', allowed: false, 'reject-reason': error.message };
      }
    }),
  scantxoutset(view, params) {
    if (params[0] !== 'start') return null;
    const wanted = new Set((params[1] as { desc: string }[]).map(({ desc }) => /^raw\(([0-9a-f]*)\)/.exec(desc)?.[1]));
    const tip = view.tip();
    const coins = [...view.ledger.coinsAt(tip.height).values()];
    const found = coins.filter(({ script }) => wanted.has(Buffer.from(script).toString('hex')));
    return {
      success: true,
      txouts: coins.length,
      height: tip.height,
      bestblock: tip.hash,
      unspents: found.map(({ txid, vout, script, value, height, coinbase }) => ({
        txid,
        vout,
        scriptPubKey: Buffer.from(script).toString('hex'),
        desc: `raw(${Buffer.from(script).toString('hex')})`,
        amount: new Amount(value),
        coinbase,
        height,
        blockhash: view.ledger.blockAt(height)!.hash,
        confirmations: tip.height - height + 1,
      })),
      total_amount: new Amount(found.reduce((sum, { value }) => sum + value, 0n)),
    };
  },
  getindexinfo(view) {
    const { filteredTo } = view;
    if (filteredTo === null) return {};
    const synced = filteredTo >= view.tip().height;
    return { 'basic block filter index': { synced, best_block_height: filteredTo } };
  },
  help: (view, params) =>
    text(params, 0) === 'scanblocks' && view.without.has('scanblocks')
      ? 'help: unknown command: scanblocks'
      : text(params, 0),
  scanblocks(view, params) {
    const [, descriptors, from = 0, to = view.tip().height] = params as [string, { desc: string }[], number?, number?];
    const wanted = new Set(descriptors.map(({ desc }) => /^raw\(([0-9a-f]*)\)/.exec(desc)?.[1]));
    const heights = Array.from({ length: Math.min(to, view.filteredTo ?? -1) - from + 1 }, (_, at) => from + at);
    const matching = heights
      .map((height) => view.ledger.blockAt(height)!)
      .filter(({ transactions }) =>
        transactions.some(({ outs }) => outs.some(({ script }) => wanted.has(Buffer.from(script).toString('hex')))),
      );
    const relevant = [...view.falseMatches, ...matching.map(({ hash }) => hash)];
    return { from_height: from, to_height: to, relevant_blocks: relevant, completed: true };
  },
};

const UNKNOWN_TO_INDEX = 'No such mempool or blockchain transaction.';
const UNKNOWN_TO_POOL =
  'No such mempool transaction. Use -txindex or provide a block hash to enable blockchain ' + 'transaction queries.';

/** From the pool, from a named block, or by the node's index. */
function rawTransaction(view: View, params: Params): unknown {
  const [, verbose, blockHash] = params,
    txid = text(params, 0),
    { ledger } = view,
    tip = view.tip().height;
  const shape = (transaction: Transaction, block: LedgerBlock | null) => {
    if (verbose !== true && verbose !== 1 && verbose !== 2) return transaction.toHex();
    if (block === null) return transactionShape(transaction, null);
    const onChain = ledger.blockAt(block.height) === block && block.height <= tip;
    return {
      ...(blockHash === undefined ? {} : { in_active_chain: onChain }),
      ...transactionShape(transaction, null),
      blockhash: block.hash,
      confirmations: onChain ? tip - block.height + 1 : 0,
      time: block.time,
      blocktime: block.time,
    };
  };
  if (blockHash !== undefined && blockHash !== null) {
    const block = wholeBlock(view, String(blockHash)),
      transaction = find(block, txid);
    if (transaction === undefined) {
      throw new RpcFailure(
        -5,
        'No such transaction found in the provided block. Use gettransaction for wallet transactions.',
      );
    }
    return shape(transaction, block);
  }
  const inPool = ledger.pool.get(txid);
  if (inPool !== undefined) return shape(inPool.transaction, null);
  for (let height = view.indexed ? tip : -1; height >= 0; height -= 1) {
    const block = ledger.blockAt(height)!,
      transaction = find(block, txid);
    if (transaction !== undefined) return shape(transaction, block);
  }
  const unknown = view.indexed ? UNKNOWN_TO_INDEX : UNKNOWN_TO_POOL;
  throw new RpcFailure(-5, `${unknown} Use gettransaction for wallet transactions.`);
}

/** The result of a call. Throws: RpcFailure. */
export function answer(view: View, method: string, params: Params): unknown {
  const run = view.without.has(method) ? undefined : METHODS[method];
  if (run === undefined) throw new RpcFailure(-32_601, 'Method not found');
  return run(view, params);
}
