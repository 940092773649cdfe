/** The XRP stage: a stand-in ledger with two servers that verify real signatures; it closes by hand and by time. */
import { networkOf } from '../chains/registry.ts';
import type { Stage } from './demo-stage.ts';
import { accountKey } from './stand-ins/xrp/entries.ts';
import { LedgerNetwork } from './stand-ins/xrp/ledger-network.ts';
import { fund, must } from './stand-ins/xrp/people.ts';
import { startXrpServer } from './stand-ins/xrp/server.ts';
import { walletOf } from './stand-ins/xrp/signers.ts';

const POLL_MS = 50;
const SERVERS = 2;
/** A ledger that closes nothing for a minute is taken for a dead one; this one closes as often as the real one. */
const CLOSE_EVERY_MS = 4_000;
const DROPS_PER_XRP = 1_000_000n;
/** Enough for the base reserve of both ends of a payment. */
const UNIT = 20n * DROPS_PER_XRP;
const PAYER_DROPS = 10_000n * DROPS_PER_XRP;

/** Starts the network, and a payer with money on it. */
export async function openXrpStage(): Promise<Stage> {
  const { nativeDecimals, threshold } = networkOf('xrp');
  const network = new LedgerNetwork({ nowMs: () => performance.timeOrigin + performance.now() });
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => startXrpServer(network)));
  const payer = walletOf('demo payer');
  fund(network, payer.classicAddress, PAYER_DROPS);
  network.close();
  const clock = setInterval(() => {
    network.close();
  }, CLOSE_EVERY_MS);
  return {
    chain: 'xrp',
    decimals: nativeDecimals,
    threshold,
    reorgs: false,
    activates: true,
    unit: UNIT,
    outsider: walletOf('demo outsider').classicAddress,
    cloudEnv: { XRP_RPC_URLS: servers.map(({ url }) => url).join(','), XRP_POLL_MS: String(POLL_MS) },
    edgeEnv: {},
    async pay(address, amount) {
      const txid = must(network, payer, {
        TransactionType: 'Payment',
        Destination: address,
        Amount: amount.toString(),
      });
      network.close();
      return { txid, blockAtMs: performance.timeOrigin + performance.now() };
    },
    async mine(blocks) {
      for (let i = 0; i < blocks; i += 1) network.close();
    },
    async reorg() {
      throw new Error('a validated ledger is final');
    },
    async balanceOf(address) {
      return BigInt(String(network.tip.state.get(accountKey(address))?.['Balance'] ?? '0'));
    },
    async close() {
      clearInterval(clock);
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
