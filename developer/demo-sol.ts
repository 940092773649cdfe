/** The Solana stage: nodes over the network's own virtual machine, blocks made only when the story says so. */
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { solana } from '../chains/sol/network.ts';
import type { Stage } from './demo-stage.ts';
import { startSolStandIn } from './stand-ins/sol/stand-in.ts';

const POLL_MS = 50;
/** Each so many slots one is skipped, as on the real network. */
const SKIP_EVERY = 7;
const PAYER_LAMPORTS = 1_000_000_000_000n;

/** Starts two nodes of a new ledger, with a payer that has money. */
export async function openSolStage(): Promise<Stage> {
  const { ledger, nodes, close } = await startSolStandIn({ nodes: 2, skipEvery: SKIP_EVERY });
  const payer = Keypair.generate(),
    outsider = Keypair.generate().publicKey.toBase58();
  ledger.fund(payer.publicKey.toBase58(), PAYER_LAMPORTS);
  ledger.mine(2);
  return {
    chain: 'sol',
    decimals: solana.nativeDecimals,
    threshold: solana.threshold,
    reorgs: true,
    outsider,
    cloudEnv: { SOL_RPC_URLS: nodes.map(({ url }) => url).join(','), SOL_POLL_MS: String(POLL_MS) },
    edgeEnv: {},
    async pay(address, amount) {
      const { publicKey: payerKey } = payer,
        toPubkey = new PublicKey(address);
      const transfer = SystemProgram.transfer({ fromPubkey: payerKey, toPubkey, lamports: amount });
      const message = new TransactionMessage({ payerKey, recentBlockhash: ledger.tip.hash, instructions: [transfer] });
      const transaction = new VersionedTransaction(message.compileToLegacyMessage());
      transaction.sign([payer]);
      const read = ledger.read(transaction.serialize());
      ledger.submit(read);
      ledger.mine();
      return { txid: read.signature, blockAtMs: performance.timeOrigin + performance.now() };
    },
    async mine(blocks) {
      ledger.mine(blocks);
    },
    // Only what is not final is ever replaced; the next block follows the fork point.
    async reorg(depth) {
      ledger.reorg(depth);
      ledger.mine();
    },
    async balanceOf(address) {
      return ledger.accounts.at(address, ledger.tip.slot)?.lamports ?? 0n;
    },
    close,
  };
}
