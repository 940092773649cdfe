/**
 * The simulated ledger behind the same port as live endpoints: the watcher and the gateway see no difference.
 */
import {
  ChainUnavailable,
  type Balance,
  type Block,
  type BroadcastResult,
  type BuildInputs,
  type ChainClient,
  type Fate,
  type Head,
  type Intent,
  type Outcome,
  type Signed,
  type Token,
  type Unsigned,
} from '../../chains/chain.ts';
import type { Use } from '../../chains/use.ts';
import type { SandboxBlock } from '../../model/ports/sandbox-store.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { openedBy } from './family.ts';
import { append, headOf, type LedgerParts } from './ledger.ts';
import { mineRepriced, submitToPool } from './pool.ts';
import { readOn } from './reading.ts';
import { viewOf } from './view.ts';

/** Blocks that are read ahead of a follower in one query. */
const BLOCKS_PER_READ = 64;

export interface SandboxClientParts extends LedgerParts {
  /** Called after a broadcast mined a block. */
  onMined(): void;
}

/** A client of one simulated ledger. */
export function createSandboxClient(parts: SandboxClientParts): ChainClient {
  const { ledger, network, family, store } = parts;
  let window = new Map<number, SandboxBlock>();

  const up = async () => {
    const untilMs = await store.downUntil(ledger);
    if (untilMs !== null && parts.nowMs() < untilMs) throw new ChainUnavailable(network.slug, 'simulated outage');
  };
  const blockAt = async (height: number): Promise<SandboxBlock | null> => {
    const kept = window.get(height);
    if (kept !== undefined) return kept;
    const blocks = height < 0 ? [] : await store.blocks(ledger, height, BLOCKS_PER_READ);
    window = new Map(blocks.map((block) => [block.height, block]));
    return window.get(height) ?? null;
  };
  const outcomeOf = async (txid: string): Promise<(Outcome & { height: number; hash: string }) | null> => {
    const found = await store.blockOf(ledger, txid);
    if (found === null) return null;
    const {
      transaction: { success, reason, fee },
      height,
      hash,
    } = found;
    return { txid, success, reason, fee: BigInt(fee), height, hash };
  };

  return {
    checkIdentity: up,
    async getHead(): Promise<Head> {
      await up();
      window = new Map();
      const { height, hash } = await headOf(parts);
      // Final is what a deposit's threshold calls deep enough, so that a gate never waits longer than the depth.
      return { height, hash, finalizedHeight: Math.max(0, height - network.threshold + 1) };
    },
    async nextHeight(height) {
      return (await blockAt(height + 1)) === null ? null : height + 1;
    },
    async getBlock(height): Promise<Block> {
      const block = await blockAt(height);
      if (block === null) throw new ChainUnavailable(network.slug, `no block ${height}`);
      return family.render(network, block);
    },
    async getBlockHash(height) {
      await up();
      window = new Map();
      return (await blockAt(height))?.hash ?? null;
    },
    async getOutcome(txid) {
      await up();
      return outcomeOf(txid);
    },
    async fetchBalance(address, token): Promise<Balance> {
      await up();
      const amount = await store.balance(ledger, address, token?.contract ?? null);
      if (family.isMadeByNative === true && token !== null) {
        return {
          ...family.balanceOf(network, amount, token),
          accountExists: (await store.balance(ledger, address, null)) > 0n,
        };
      }
      if (family.keepsLines !== true) return family.balanceOf(network, amount, token);
      return family.balanceOf(
        network,
        amount,
        token,
        openedBy({ history: await store.transactionsOf(ledger, address) }),
      );
    },
    async fetchUse({ addresses }): Promise<Use> {
      await up();
      const { height } = await headOf(parts);
      const touched = new Set(await store.touched(ledger, addresses));
      return { used: addresses.map((one) => touched.has(one)), evidence: 'history', height, requests: 0 };
    },
    async fetchBuildInputs(intent: Intent): Promise<BuildInputs> {
      await up();
      const { from, to, token, feePayer } = intent;
      const payer = feePayer === undefined || feePayer === from ? {} : { feePayer };
      const view = await viewOf(parts, { from, to, tokenContract: token?.contract ?? null, ...payer });
      const pooled = (await store.pooledOf(ledger, from)).filter(({ replacedBy }) => replacedBy === null);
      return family.buildInputs(network, intent, { ...view, pooled: pooled.map(({ transaction }) => transaction) });
    },
    async broadcast(signed: Signed): Promise<BroadcastResult> {
      await up();
      return submit(parts, signed);
    },
    async getFate(unsigned: Unsigned, txid): Promise<Fate> {
      await up();
      const found = await outcomeOf(txid);
      if (found !== null) {
        const { height, hash, ...outcome } = found;
        return { kind: 'included', height, hash, outcome };
      }
      const next = await store.nonce(ledger, unsigned.from);
      if (unsigned.replayKey.kind === 'nonce' && next > unsigned.replayKey.value) {
        return { kind: 'dead', proof: `nonce ${unsigned.replayKey.value} is used, the next one is ${next}` };
      }
      const last = family.lastHeightOf?.(unsigned) ?? null,
        { height } = await headOf(parts);
      if (last !== null && height > last)
        return { kind: 'dead', proof: `it was void after ${last}, the head is ${height}` };
      const proof =
        family.deathOf?.(
          unsigned,
          await viewOf(parts, { from: unsigned.from, tokenContract: unsigned.tokenContract }),
        ) ?? null;
      if (proof !== null) return { kind: 'dead', proof };
      const pooled = await store.pooled(ledger, txid);
      if (pooled === null) return { kind: 'unknown', reason: 'it is in no block and not in the pool' };
      return pooled.replacedBy === null
        ? { kind: 'pending' }
        : { kind: 'unknown', reason: `${pooled.replacedBy} took its place in the pool` };
    },
  } satisfies ChainClient & { fetchBalance(address: string, token: Token | null): Promise<Balance> };
}

/**
 * Takes signed bytes as a node would and mines them at once, or keeps them in the pool of a stuck ledger. G26: a second
 * submit of the same bytes is `already_known`.
 */
async function submit(parts: SandboxClientParts, signed: Signed): Promise<BroadcastResult> {
  const { store, ledger } = parts;
  const payload = await readOn(parts, signed);
  if (isRefusal(payload)) return { kind: 'rejected_final', refusal: payload };
  const pooled = await submitToPool(parts, signed, payload);
  if (pooled !== null) {
    if (await mineRepriced(parts, payload.from, signed.txid)) parts.onMined();
    return pooled;
  }
  const mined = await append<BroadcastResult>(parts, async () => {
    if ((await store.blockOf(ledger, signed.txid)) !== null) return { kind: 'already_known', txid: signed.txid };
    const result = payload.run(await viewOf(parts, payload));
    if (isRefusal(result)) return { kind: 'rejected_final', refusal: result };
    return 'unknown' in result ? { kind: 'unknown', reason: result.unknown } : [[result]];
  });
  if (!Array.isArray(mined)) return mined;
  parts.onMined();
  return { kind: 'accepted', txid: signed.txid };
}
