/** The TRON stage: a ledger that speaks java-tron's HTTP API, with real signatures and real bytes. */
import { networkOf } from '../chains/registry.ts';
import type { Stage } from './demo-stage.ts';
import { createTronStandIn, keyOf } from './stand-ins/tron/stand-in.ts';

/** Blocks are made by hand; the watcher need not wait for their three seconds. */
const POLL_MS = 50;
const PAYER_SUN = 1_000_000_000_000n;

/** Starts the ledger with a rich payer, and serves two nodes of it over HTTP. */
export async function openTronStage(): Promise<Stage> {
  const { slug: chain, nativeDecimals, threshold } = networkOf('tron');
  const standIn = createTronStandIn(),
    payer = keyOf('payer'),
    outsider = keyOf('outsider').address;
  standIn.setAccount(payer.address, { balance: PAYER_SUN });
  standIn.setAccount(outsider, { balance: 1n }); // it exists, so that a payment to it creates no account
  const urls = await Promise.all([standIn.openNode(), standIn.openNode()].map((node) => node.listen()));
  return {
    chain,
    decimals: nativeDecimals,
    threshold,
    reorgs: true,
    outsider,
    cloudEnv: { TRON_RPC_URLS: urls.join(','), TRON_POLL_MS: String(POLL_MS) },
    edgeEnv: {},
    async pay(address, amount) {
      const txid = standIn.send(payer, { type: 'TransferContract', to: address, amount });
      standIn.ledger.mine(1);
      return { txid, blockAtMs: performance.timeOrigin + performance.now() };
    },
    mine: async (blocks) => standIn.ledger.mine(blocks),
    reorg: async (depth) => standIn.ledger.reorg(depth),
    balanceOf: async (address) =>
      standIn.ledger.worldAt(standIn.ledger.headHeight()).accounts.get(address)?.balance ?? 0n,
    close: () => standIn.close(),
  };
}
