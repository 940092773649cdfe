/**
 * What became of signed bytes, as the company's own node reports: the proof of death of G27, and of landing.
 *
 * A death is proven by blocks that do not hold the transaction, beginning before it was signed. The cloud does not
 * decide where they begin (`readAtHeight`): the node must have a block that is older than the signature by this edge's
 * clock.
 */
import { ChainUnavailable, MalformedReply, type Network, type Unsigned } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { OwnNode, OwnNodes } from './own-nodes.ts';

/** `signedAtMs` by this edge's clock. */
export interface SignedVersion {
  readonly unsigned: Unsigned;
  readonly txid: string;
  readonly signedAtMs: number;
}

export interface Landed {
  readonly landed: string;
}

export interface OwnFates {
  /**
   * `dead`: no version can land, or one landed and moved nothing · `landed`: the txid of the version that landed, deep
   * enough · null: not proven. Never rejects.
   */
  of(chain: Chain, versions: readonly SignedVersion[]): Promise<'dead' | Landed | null>;
}

export function createOwnFates(nodes: OwnNodes): OwnFates {
  return {
    async of(chain, versions) {
      if (!nodes.has(chain)) return null;
      try {
        const { network, client } = await nodes.of(chain);
        await client.checkIdentity();
        const fates = await Promise.all(versions.map((version) => fateOf({ network, client }, version)));
        if (fates.every(({ kind }) => kind === 'dead')) return 'dead';
        const included = fates.find((fate) => fate.kind === 'included');
        if (included === undefined) return null;
        const { txid } = versions[fates.indexOf(included)]!;
        const head = await client.getHead();
        if (head.height - included.height + 1 < network.threshold) return null;
        return included.outcome.success ? { landed: txid } : 'dead';
      } catch (error) {
        if (error instanceof ChainUnavailable || error instanceof MalformedReply) return null;
        throw error;
      }
    },
  };
}

/**
 * How far this edge's clock and block times may be apart: ten minutes, or twelve blocks where blocks are rare.
 */
const skewMs = ({ blockTimeMs }: Network): number => Math.max(600_000, 12 * blockTimeMs);

async function fateOf(node: Pick<OwnNode, 'network' | 'client'>, { unsigned, txid, signedAtMs }: SignedVersion) {
  const first = await firstBlock(node, unsigned.readAtHeight, signedAtMs);
  const fate = await node.client.getFate({ ...unsigned, readAtHeight: first ?? unsigned.readAtHeight }, txid);
  return fate.kind === 'dead' && first === null
    ? { kind: 'unknown' as const, reason: 'the node does not have the time of the signature' }
    : fate;
}

/**
 * Height of a block that is older than the signature, a little before the one that the cloud named. Null where the node
 * has no block there, or a younger one: then the cloud named a later block. Throws: ChainUnavailable.
 */
async function firstBlock(
  { network, client }: Pick<OwnNode, 'network' | 'client'>,
  readAtHeight: number,
  signedAtMs: number,
): Promise<number | null> {
  const skew = skewMs(network),
    before = Math.ceil((2 * skew) / network.blockTimeMs);
  const wanted = Math.min(readAtHeight, (await client.getHead()).height) - before;
  if (wanted <= 0) return 0;
  try {
    const height = await client.nextHeight(wanted - 1);
    const timeMs = height === null ? null : (await client.getBlock(height)).timeMs;
    return timeMs !== null && timeMs <= signedAtMs - skew ? height : null;
  } catch (error) {
    if (error instanceof ChainUnavailable || error instanceof MalformedReply) return null;
    throw error;
  }
}
