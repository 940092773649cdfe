/**
 * What became of a submitted transaction, and the proof that it can never land (G27, M30): a ledger has closed after
 * its last time, and it is in none of the ledgers since it was built; or its sequence is used, by another one. Every
 * step asks after what it relies on, so that what lands meanwhile is seen. Two servers must prove it where there are
 * several.
 */
import { ChainUnavailable, type Fate, type Network, type Unsigned } from '../chain.ts';
import { readAccounts } from './account-reader.ts';
import { decodePayload, innerHashOf } from './envelope.ts';
import { newestClose, whereIs, type InclusionParts, type Whereabouts } from './inclusion.ts';
import type { Source, Sources } from './sources.ts';

const PROOFS_NEEDED = 2;

export interface FateParts extends InclusionParts {
  readonly sources: Sources;
}

/** One server's word. */
type Word =
  | Extract<Fate, { kind: 'included' }>
  | { readonly kind: 'dead'; readonly proof: string }
  | { readonly kind: 'open'; readonly reason: string };

/** Included, pending, unknown or, with proof, dead. Throws: ChainUnavailable when no server can be asked. */
export async function readFate(parts: FateParts, unsigned: Unsigned, txid: string): Promise<Fate> {
  const { transport } = parts.sources,
    needed = Math.min(PROOFS_NEEDED, transport.endpoints.length);
  const proofs: string[] = [],
    open: string[] = [],
    failed: string[] = [];
  for (const source of await parts.sources.answering()) {
    try {
      const word = await wordOf(parts, source, unsigned, txid);
      if (word.kind === 'included') return word;
      if (word.kind === 'dead') proofs.push(word.proof);
      else open.push(word.reason);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      failed.push(`${source.endpoint.name}: ${error.reason}`);
    }
    if (proofs.length >= needed) break;
  }
  if (open.length > 0) return { kind: 'unknown', reason: open[0]! };
  if (proofs.length >= needed)
    return { kind: 'dead', proof: proofs.length === 1 ? proofs[0]! : `${proofs[0]!}; ${proofs.length} servers agree` };
  if (proofs.length > 0) return { kind: 'unknown', reason: failed.join('; ') || 'a second server must prove it too' };
  throw new ChainUnavailable('xlm', failed.join('; ') || 'no server can be asked now');
}

async function wordOf(parts: FateParts, source: Source, unsigned: Unsigned, txid: string): Promise<Word> {
  const { ledgers } = parts,
    { transaction, bump } = payloadOf(unsigned);
  const { height, closeTime } = await newestClose(ledgers, source);
  const isLate = BigInt(closeTime) > transaction.maxTime;
  const used = isLate ? null : await usedSequence(parts, source, unsigned.from);
  // After both: what is in a ledger by then is found here. What is inside of a fee bump can land without it.
  const found = await whereIs(parts, source, txid);
  const inner =
    found.kind === 'nowhere' && bump !== null
      ? await whereIs(parts, source, innerTxidOf(parts.network, unsigned))
      : found;
  if (found.kind === 'included' || inner.kind === 'included') {
    const {
      height: at,
      hash,
      ...outcome
    } = (found.kind === 'included' ? found : (inner as Extract<Whereabouts, { kind: 'included' }>)).included;
    return { kind: 'included', height: at, hash, outcome };
  }
  if (found.oldest > unsigned.readAtHeight) return { kind: 'open', reason: `no history before ledger ${found.oldest}` };
  const absent = `it is in none of ledgers ${unsigned.readAtHeight} to ${found.height}`;
  if (isLate) {
    return found.height < height
      ? { kind: 'open', reason: 'the server went back' }
      : { kind: 'dead', proof: `ledger ${height} closed at ${closeTime}, after ${transaction.maxTime}, and ${absent}` };
  }
  if (used === null || used.sequence < transaction.sequence)
    return { kind: 'open', reason: `no ledger has it, and it may land until ${transaction.maxTime}` };
  if (found.height < used.height) return { kind: 'open', reason: 'the server went back' };
  return { kind: 'dead', proof: `sequence ${transaction.sequence} is used at ledger ${used.height}, and ${absent}` };
}

function payloadOf({ payload }: Unsigned) {
  const decoded = decodePayload(payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  return decoded.payload;
}

function innerTxidOf({ identity }: Network, unsigned: Unsigned): string {
  return Buffer.from(innerHashOf(identity, payloadOf(unsigned))).toString('hex');
}

/** The sender's last sequence; null without an account, which proves nothing about it. */
async function usedSequence(
  { ledgers }: FateParts,
  source: Source,
  sender: string,
): Promise<{ readonly sequence: bigint; readonly height: number } | null> {
  const { height, accounts } = await readAccounts(ledgers.heads, source, [sender], null);
  const account = accounts[sender] ?? null;
  return account === null ? null : { sequence: BigInt(account.sequence), height };
}
