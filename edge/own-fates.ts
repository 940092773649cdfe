/** What became of signed bytes as the company's own node says: the proof of death of G27, and of landing. */
import { ChainUnavailable, type Unsigned } from '../chains/chain.ts';
import type { Chain } from '../protocol/slugs.ts';
import type { OwnNodes } from './own-nodes.ts';

export interface SignedVersion { readonly unsigned: Unsigned; readonly txid: string }

export interface Landed { readonly landed: string }

export interface OwnFates {
  /** `dead`: no version can land, or one did and moved nothing · `landed`: the txid of the one that did, deep enough · null: not proven. Never rejects. */
  of(chain: Chain, versions: readonly SignedVersion[]): Promise<'dead' | Landed | null>;
}

export function createOwnFates(nodes: OwnNodes): OwnFates {
  return {
    async of(chain, versions) {
      if (!nodes.has(chain)) return null;
      try {
        const { network, client } = await nodes.of(chain);
        await client.checkIdentity();
        const fates = await Promise.all(versions.map(({ unsigned, txid }) => client.getFate(unsigned, txid)));
        if (fates.every(({ kind }) => kind === 'dead')) return 'dead';
        const included = fates.find((fate) => fate.kind === 'included');
        if (included === undefined) return null;
        const { txid } = versions[fates.indexOf(included)]!;
        const head = await client.getHead();
        if (head.height - included.height + 1 < network.threshold) return null;
        return included.outcome.success ? { landed: txid } : 'dead';
      } catch (error) {
        if (error instanceof ChainUnavailable) return null;
        throw error;
      }
    },
  };
}
