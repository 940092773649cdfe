/** One simulated ledger: appends and replaces blocks in the store. Every block hash is new, also at the same height. */
import { createHash, randomBytes } from 'node:crypto';
import type { Network } from '../../chains/chain.ts';
import type { Cursor } from '../../model/ports/watch-store.ts';
import type { SandboxBlock, SandboxStore, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import type { LedgerId } from '../../protocol/ids.ts';
import { Turns } from '../../protocol/turns.ts';
import type { SimulatedFamily } from './family.ts';

/** Blocks that one statement appends. */
const BLOCKS_PER_STATEMENT = 128;
/** A ledger that moves under an append is read again this often. */
export const APPEND_TRIES = 16;

export interface LedgerParts {
  readonly ledger: LedgerId;
  readonly network: Network;
  /** The chain's real network, whose form signed bytes had before ledgers had ids of their own. */
  readonly realNetwork: Network;
  readonly family: SimulatedFamily;
  readonly store: SandboxStore;
  nowMs(): number;
}

/** The ledger's head; its first block, at height 0, is made when it has none. */
export async function headOf(parts: LedgerParts): Promise<Cursor> {
  const head = await parts.store.head(parts.ledger);
  if (head !== null) return head;
  const before = { height: -1, hash: parts.family.hashText(new Uint8Array(32)) };
  await parts.store.mine(parts.ledger, null, blocksAbove(parts, before, [[]]));
  return headOf(parts);
}

/**
 * What this process does to a ledger is done one after the other: of many at once all but one would have to begin
 * again, and the last would give up.
 */
const turns = new WeakMap<SandboxStore, Turns<LedgerId>>();

/** Does the work when all that came before on this ledger is done. The work may not wait for its own turn. */
export function inTurn<T>({ store, ledger }: LedgerParts, work: () => Promise<T>): Promise<T> {
  const ofStore = turns.get(store) ?? new Turns();
  turns.set(store, ofStore);
  return ofStore.take(ledger, work);
}

/**
 * Appends blocks; `contents` is asked with their parent, the head, and asked again when the ledger moved meanwhile.
 * Answers the new blocks, none when `contents` had none. Throws: Error when the ledger moves too often.
 */
export function append<Refused>(
  parts: LedgerParts,
  contents: (head: Cursor) => Promise<SandboxTransaction[][] | Refused>,
): Promise<SandboxBlock[] | Refused> {
  return inTurn(parts, () => appendNow(parts, contents));
}

async function appendNow<Refused>(
  parts: LedgerParts,
  contents: (head: Cursor) => Promise<SandboxTransaction[][] | Refused>,
): Promise<SandboxBlock[] | Refused> {
  for (let tries = 0; tries < APPEND_TRIES; tries += 1) {
    const head = await headOf(parts);
    const asked = await contents(head);
    if (!Array.isArray(asked)) return asked;
    const blocks = blocksAbove(parts, head, asked);
    if (blocks.length === 0 || (await parts.store.mine(parts.ledger, head, blocks))) return blocks;
  }
  throw new Error(`ledger ${parts.ledger} moved ${APPEND_TRIES} times under one append`);
}

/** Appends empty blocks. */
export async function appendEmpty(parts: LedgerParts, count: number): Promise<void> {
  for (let left = count; left > 0; left -= BLOCKS_PER_STATEMENT) {
    await append(parts, async () => Array.from({ length: Math.min(left, BLOCKS_PER_STATEMENT) }, () => []));
  }
}

function blocksAbove(parts: LedgerParts, head: Cursor, contents: readonly SandboxTransaction[][]): SandboxBlock[] {
  const timeMs = parts.nowMs();
  let parent = head;
  return contents.map((transactions) => {
    const height = parent.height + 1;
    const seed = createHash('sha256')
      .update(`${parts.ledger} ${height} ${parent.hash}`)
      .update(randomBytes(16))
      .digest();
    const hash = parts.family.hashText(seed);
    const block: SandboxBlock = { ledger: parts.ledger, height, hash, parentHash: parent.hash, timeMs, transactions };
    parent = { height, hash };
    return block;
  });
}
