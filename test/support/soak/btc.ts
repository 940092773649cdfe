/** Bitcoin in the soak: two nodes and an address index over one ledger. */
import { startBtcStandIn, type BtcNode, type Lie } from '../../../developer/stand-ins/btc/stand-in.ts';
import { Amount } from '../../../developer/stand-ins/btc/json.ts';
import { RpcFailure } from '../../../developer/stand-ins/btc/ledger.ts';
import { between, CALLS_LEFT_MAX, envOf, LAG_BLOCKS_MAX, oneOf, type SoakChain } from './soak-chain.ts';

const THRESHOLD = 3;
const FALSE_HASH = 'ab'.repeat(32);
type Told = Record<string, unknown>;

const instead =
  (named: string, change: (honest: Told) => Told): Lie =>
  (method, _params, honest) =>
    method === named ? change(honest() as Told) : honest();

/** Every payment one satoshi richer, as the fields say it; the bytes beside them stay. */
const richer = (block: Told): Told => ({
  ...block,
  tx: (block['tx'] as Told[]).map((one) =>
    typeof one !== 'object'
      ? one
      : {
          ...one,
          vout: (one['vout'] as { value: Amount }[]).map((output) => ({
            ...output,
            value: new Amount(output.value.sats + 1n),
          })),
        },
  ),
});

/**
 * Other amounts under the true hash, transactions left out, another block, another name, no block, a head that is not
 * there.
 */
const LIES: readonly Lie[] = [
  instead('getblock', richer),
  instead('getblock', (block) => ({ ...block, tx: (block['tx'] as unknown[]).slice(0, 1) })),
  instead('getblock', (block) => ({ ...block, previousblockhash: FALSE_HASH })),
  instead('getblock', (block) => ({ ...block, confirmations: -1 })),
  instead('getblock', () => {
    throw new RpcFailure(-1, 'Block not available (pruned data)');
  }),
  (method, _params, honest) => (method === 'getblockhash' ? FALSE_HASH : honest()),
  instead('getblockchaininfo', (told) => ({
    ...told,
    blocks: Number(told['blocks']) + 40,
    headers: Number(told['headers']) + 40,
    bestblockhash: FALSE_HASH,
  })),
];

export async function openBtc(): Promise<SoakChain> {
  const standIn = await startBtcStandIn({ nodes: 2 }),
    { ledger, nodes, index } = standIn;
  const peers = [...nodes, index],
    sent = new Map<string, string>();
  const isInChain = (txid: string) =>
    Array.from({ length: ledger.tip.height + 1 }, (_, i) => ledger.blockAt(ledger.tip.height - i)!).some(
      ({ transactions }) => transactions.some((transaction) => transaction.getId() === txid),
    );
  return {
    chain: 'btc',
    unit: 10_000n,
    threshold: THRESHOLD,
    reorgMax: THRESHOLD + 3,
    peers: peers.length,
    cloudEnv: envOf(
      'btc',
      peers.map(({ url }) => url),
      { CONFIRMATIONS: THRESHOLD },
    ),
    async pay(address, amount) {
      const txid = standIn.pay(address, amount);
      sent.set(txid, ledger.pool.get(txid)!.transaction.toHex());
      return txid;
    },
    mine: async (blocks) => {
      standIn.mine(blocks);
    },
    async reorg(depth, comesBack) {
      standIn.reorg(depth);
      for (const [txid, hex] of sent) {
        if (ledger.pool.has(txid) || isInChain(txid)) continue;
        if (!comesBack(txid)) sent.delete(txid);
        else {
          try {
            ledger.submit(hex);
          } catch (error) {
            if (!(error instanceof RpcFailure)) throw error;
            sent.delete(txid); // it stood on one that did not come back
          }
        }
      }
    },
    async makeIll(peer, ill, random) {
      const one = peers[peer]!;
      if (ill === 'dead') one.dead = true;
      else if (ill === 'limits') one.callsLeft = between(random, 0, CALLS_LEFT_MAX);
      else if (ill === 'lags' || one === index) one.lagBlocks = between(random, 1, LAG_BLOCKS_MAX);
      else (one as BtcNode).lie = oneOf(random, LIES);
    },
    heal: async () => {
      for (const one of peers) Object.assign(one, { dead: false, callsLeft: null, lagBlocks: 0, lie: null });
    },
    stands: async (txid) => isInChain(txid),
    headHeight: async () => ledger.tip.height,
    close: () => standIn.close(),
  };
}
