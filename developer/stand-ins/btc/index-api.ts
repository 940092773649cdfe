/** Esplora's HTTP API over the ledger, as far as a wallet asks it. Source: Blockstream/esplora API.md. */
import type { LedgerBlock } from './block.ts';
import type { BtcLedger } from './ledger.ts';
import { scriptOf } from './scripts.ts';
import { outpointsOf } from './transaction.ts';

export interface IndexReply {
  readonly status: number;
  readonly body: unknown;
}

const plain = (status: number, body: string): IndexReply => ({ status, body });
const statusOf = (block: LedgerBlock | undefined) =>
  block === undefined
    ? { confirmed: false }
    : { confirmed: true, block_height: block.height, block_hash: block.hash, block_time: block.time };

/** Newest ten blocks, from the newest. */
const BLOCKS_SHOWN = 10;

/** What the index answers to a path, at its own newest block. Amounts are integers in satoshi. */
export function indexAnswer(ledger: BtcLedger, tip: number, path: string): IndexReply {
  const [, room, key = '', rest = '', more = ''] = path.split('/');
  if (room === 'blocks' && key === 'tip') return plain(200, rest === 'hash' ? ledger.blockAt(tip)!.hash : String(tip));
  if (room === 'blocks') {
    const newest = Array.from({ length: Math.min(BLOCKS_SHOWN, tip + 1) }, (_, i) => ledger.blockAt(tip - i)!);
    return {
      status: 200,
      body: newest.map(({ hash, height, parentHash, time }) => ({
        id: hash,
        height,
        previousblockhash: parentHash,
        timestamp: time,
      })),
    };
  }
  if (room === 'block-height') {
    const block = Number(key) <= tip ? ledger.blockAt(Number(key)) : undefined;
    return block === undefined ? plain(404, 'Block not found') : plain(200, block.hash);
  }
  if (room !== 'address') return plain(404, 'Invalid');
  let script: Uint8Array;
  try {
    script = scriptOf(key);
  } catch {
    return plain(400, 'Invalid');
  }
  if (rest === '') return { status: 200, body: { address: key, ...countsOf(ledger, tip, script) } };
  if (rest === 'utxo') return { status: 200, body: unspentOf(ledger, tip, script) };
  const isPool = rest === 'txs' && more === 'mempool';
  return isPool ? { status: 200, body: pooledOf(ledger, script) } : plain(404, 'Not found');
}

/** Transactions that pay the script, in blocks and waiting. */
function countsOf(ledger: BtcLedger, tip: number, script: Uint8Array) {
  const pays = ({ outs }: { outs: readonly { script: Uint8Array }[] }) =>
    outs.some((output) => Buffer.compare(output.script, script) === 0);
  const mined = Array.from(
    { length: tip + 1 },
    (_, height) => ledger.blockAt(height)!.transactions.filter(pays).length,
  );
  const waiting = [...ledger.pool.values()].filter(({ transaction }) => pays(transaction));
  return {
    chain_stats: { tx_count: mined.reduce((sum, count) => sum + count, 0) },
    mempool_stats: { tx_count: waiting.length },
  };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Outputs that nobody has spent, in blocks and in the pool; those that the pool spends are left out. */
function unspentOf(ledger: BtcLedger, tip: number, script: Uint8Array): object[] {
  const isFree = (txid: string, vout: number) => ledger.spenderOf(`${txid}:${vout}`) === undefined;
  const pays = (output: { script: Uint8Array }) => Buffer.compare(output.script, script) === 0;
  const confirmed = [...ledger.coinsAt(tip).values()].filter((coin) => pays(coin) && isFree(coin.txid, coin.vout));
  const waiting = [...ledger.pool.values()].flatMap(({ txid, transaction: { outs } }) =>
    outs.flatMap((output, vout) => (pays(output) && isFree(txid, vout) ? [{ txid, vout, value: output.value }] : [])),
  );
  return [
    ...confirmed.map(({ txid, vout, value, height }) => ({
      txid,
      vout,
      status: statusOf(ledger.blockAt(height)),
      value: Number(value),
    })),
    ...waiting.map(({ txid, vout, value }) => ({ txid, vout, status: statusOf(undefined), value: Number(value) })),
  ];
}

/** Transactions of the pool that pay or spend the script, with what they spend. */
function pooledOf(ledger: BtcLedger, script: Uint8Array): object[] {
  const coins = ledger.coinsAt(ledger.tip.height),
    own = hex(script);
  const shapeOf = (output: { script: Uint8Array; value: bigint }) => ({
    scriptpubkey: hex(output.script),
    value: Number(output.value),
  });
  const all = [...ledger.pool.values()].map(({ txid, transaction }) => ({
    txid,
    status: statusOf(undefined),
    vin: outpointsOf(transaction).map((outpoint) => {
      const [of = '', vout = ''] = outpoint.split(':');
      const spent = coins.get(outpoint) ?? ledger.pool.get(of)?.transaction.outs[Number(vout)];
      return { txid: of, vout: Number(vout), prevout: spent === undefined ? null : shapeOf(spent), is_coinbase: false };
    }),
    vout: transaction.outs.map(shapeOf),
  }));
  return all.filter(
    ({ vin, vout }) =>
      vin.some(({ prevout }) => prevout?.scriptpubkey === own) || vout.some(({ scriptpubkey }) => scriptpubkey === own),
  );
}
