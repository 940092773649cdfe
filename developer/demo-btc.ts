/**
 * The Bitcoin stage: a node and an address index of the stand-in, on the main network's own first block and prefixes.
 */
import { networkOf } from '../chains/registry.ts';
import { startBtcStandIn } from './stand-ins/btc/stand-in.ts';
import type { Stage } from './demo-stage.ts';

/** BIP-173's example: a key hash that nobody is known to hold. */
const OUTSIDER = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const POLL_MS = 50;

/** Starts the ledger with its node; blocks are mined only when the story says so. */
export async function openBtcStage(): Promise<Stage> {
  const network = networkOf('btc'),
    peer = await startBtcStandIn(),
    [node] = peer.nodes;
  const balanceOf = (address: string): bigint => {
    const script = Buffer.from(peer.scriptOf(address));
    return [...peer.ledger.coinsAt(peer.ledger.tip.height).values()].reduce(
      (sum, coin) => (script.equals(coin.script) ? sum + coin.value : sum),
      0n,
    );
  };
  return {
    chain: 'btc',
    decimals: network.nativeDecimals,
    threshold: network.threshold,
    reorgs: true,
    outsider: OUTSIDER,
    cloudEnv: { BTC_RPC_URLS: `${node!.url},${peer.index.url}`, BTC_POLL_MS: String(POLL_MS) },
    edgeEnv: {},
    async pay(address, amount) {
      const txid = peer.pay(address, amount);
      peer.mine(1);
      return { txid, blockAtMs: performance.timeOrigin + performance.now() };
    },
    async mine(blocks) {
      peer.mine(blocks);
    },
    async reorg(depth) {
      peer.reorg(depth);
    },
    async balanceOf(address) {
      return balanceOf(address);
    },
    close: () => peer.close(),
  };
}
