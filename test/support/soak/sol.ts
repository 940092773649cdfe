/**
 * Solana in the soak: three nodes over a ledger of the real virtual machine, with skipped slots and forks of what is
 * not final.
 */
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { networkOf } from '../../../chains/registry.ts';
import { RpcFailure, startSolStandIn, type Lie } from '../../../developer/stand-ins/sol/stand-in.ts';
import { between, CALLS_LEFT_MAX, envOf, LAG_BLOCKS_MAX, oneOf, type SoakChain } from './soak-chain.ts';

const NODES = 3;
type Told = Record<string, unknown>;
const SKIP_EVERY = 7;
const PAYER_LAMPORTS = 1_000_000_000_000n;
const FALSE_HASH = Keypair.fromSeed(new Uint8Array(32).fill(9)).publicKey.toBase58();

const refusing =
  (code: number): Lie =>
  (method, [slot], honest) => {
    if (method === 'getBlock') throw new RpcFailure(code, `Slot ${String(slot)} was skipped, or missing`);
    return honest();
  };
/** The payee of each payment one lamport richer, its payer poorer. */
function richer(block: Told): Told {
  const moved = (balances: unknown): bigint[] =>
    (balances as bigint[]).map((lamports, index) =>
      index === 0 ? lamports - 1n : index === 1 ? lamports + 1n : lamports,
    );
  return block['transactions'] === undefined
    ? block
    : {
        ...block,
        transactions: (block['transactions'] as { meta: Told }[]).map((one) => ({
          ...one,
          meta: { ...one.meta, postBalances: moved(one.meta['postBalances']) },
        })),
      };
}
/**
 * Blocks that are called skipped, missing or gone; another name, another parent; a slot that is not there; other
 * amounts under the true hash.
 */
const LIES: readonly Lie[] = [
  ...[-32_001, -32_004, -32_007, -32_009, -32_014].map(refusing),
  (method, _params, honest) => (method === 'getBlock' ? { ...(honest() as object), blockhash: FALSE_HASH } : honest()),
  (method, _params, honest) =>
    method === 'getBlock' ? { ...(honest() as object), previousBlockhash: FALSE_HASH } : honest(),
  (method, _params, honest) => (method === 'getBlocks' ? (honest() as number[]).slice(0, 1) : honest()),
  (method, _params, honest) => (method === 'getSlot' ? Number(honest()) + 40 : honest()),
  (method, _params, honest) => (method === 'getBlock' ? null : honest()),
  (method, _params, honest) => (method === 'getBlock' ? richer(honest() as Told) : honest()),
];

export async function openSol(): Promise<SoakChain> {
  const { ledger, nodes, close } = await startSolStandIn({ nodes: NODES, skipEvery: SKIP_EVERY });
  const payer = Keypair.generate();
  ledger.fund(payer.publicKey.toBase58(), PAYER_LAMPORTS);
  ledger.mine(40);
  const sent = new Map<string, Uint8Array>();
  return {
    chain: 'sol',
    unit: 1_000_000n,
    threshold: networkOf('sol').threshold,
    reorgMax: 20,
    peers: NODES,
    cloudEnv: envOf(
      'sol',
      nodes.map(({ url }) => url),
    ),
    async pay(address, amount) {
      const transfer = SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: new PublicKey(address),
        lamports: amount,
      });
      // A hash that is final lives on every fork.
      const { hash: recentBlockhash } = ledger.finalized(ledger.tip);
      const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions: [transfer] });
      const transaction = new VersionedTransaction(message.compileToLegacyMessage());
      transaction.sign([payer]);
      const read = ledger.read(transaction.serialize());
      ledger.submit(read);
      sent.set(read.signature, read.wire);
      return read.signature;
    },
    mine: async (blocks) => ledger.mine(blocks),
    async reorg(depth, comesBack) {
      ledger.reorg(depth);
      ledger.mine(depth + 1); // the next block stands on the fork point
      for (const [signature, wire] of sent) {
        if (ledger.transaction(signature) !== undefined || ledger.inPool(signature)) continue;
        if (comesBack(signature)) ledger.submit(ledger.read(wire));
        else sent.delete(signature);
      }
    },
    async makeIll(peer, ill, random) {
      const node = nodes[peer]!;
      if (ill === 'dead') node.dead = true;
      else if (ill === 'limits') node.callsLeft = between(random, 0, CALLS_LEFT_MAX);
      else if (ill === 'lags') node.lagBlocks = between(random, 1, LAG_BLOCKS_MAX);
      else node.lie = oneOf(random, LIES);
    },
    heal: async () => {
      for (const node of nodes) Object.assign(node, { dead: false, callsLeft: null, lagBlocks: 0, lie: null });
    },
    stands: async (signature) => ledger.transaction(signature)?.entry.meta['err'] === null,
    headHeight: async () => ledger.tip.slot,
    close,
  };
}
