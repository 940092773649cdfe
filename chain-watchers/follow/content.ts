/** From a proven block to what is recorded of it. */
import type { Block, ChainModule, Decoded, Outcome, Unattributed } from '../../chains/chain.ts';
import type { BlockRecord, Cursor, WatchedAddress } from '../../model/ports/watch-store.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { accountOfLedger } from '../../protocol/ids.ts';
import type { Environment } from '../../protocol/slugs.ts';
import { linkOf } from './cursor.ts';
import { recordUnattributed } from '../audit/discrepancy.ts';
import { keyed, keyOf, matchTransfers, type KeyedBlock, type KeyedTransfer } from './match.ts';
import type { Run } from '../memory.ts';
import type { WatcherParts } from '../ports.ts';

/** Keys that one look-up asks for; a block of base can hold 10,000 transfers. */
const KEYS_PER_LOOKUP = 5_000;

/** The environment whose addresses a ledger may pay. */
export function environmentOfLedger(parts: Pick<WatcherParts, 'ledger'>): Environment {
  return accountOfLedger(parts.ledger) === null ? 'live' : 'sandbox';
}

export interface Content {
  readonly keyed: KeyedBlock;
  readonly record: BlockRecord;
}

interface DecodedBlock {
  /** Version of the registry whose tokens were looked for. */
  readonly registry: number;
  readonly decoded: Decoded;
  readonly keyed: KeyedBlock;
}

/** Blocks are compared before they are recorded, and decoded once for both. */
const decodedBlocks = new WeakMap<Block, DecodedBlock>();
const disputedMovements = new WeakMap<Block, readonly KeyedTransfer[]>();

/** The movements of a block. Throws: ChainUnavailable, MalformedReply when its content cannot be proven. */
export function decodedOf(parts: WatcherParts, block: Block): DecodedBlock {
  const known = decodedBlocks.get(block);
  if (known !== undefined) return known;
  const { module, network, catalogue, registry = 1 } = parts;
  const decoded = module.transfersIn(network, block, catalogue);
  const made = {
    registry,
    decoded,
    keyed: keyed(module, network, environmentOfLedger(parts), block, decoded.transfers),
  };
  decodedBlocks.set(block, made);
  return made;
}

/** Notes movements that two endpoints report differently and that pay no watched address, yet. */
export function noteDisputed(block: Block, movements: readonly KeyedTransfer[]): void {
  if (movements.length > 0) disputedMovements.set(block, movements);
}

/** What is recorded of a whole block. Throws: ChainUnavailable, MalformedReply when its content cannot be proven. */
export async function contentOf(run: Run, block: Block, previous: Cursor | null): Promise<Content> {
  const { parts, memory } = run;
  const { module, network } = parts;
  const { registry, decoded, keyed: all } = decodedOf(parts, block);
  const whole = await watchedTokensOf(parts, all);
  const disputed = disputedMovements.get(block) ?? [];
  const keyedBlock =
    disputed.length === 0
      ? whole
      : { ...whole, transfers: whole.transfers.filter((one) => !disputed.includes(one)), disputed };
  const watched = await watchedOf(
    parts,
    keyedBlock.transfers.map(({ addressKey }) => addressKey),
  );
  const context = { ledger: parts.ledger, network, only: accountOfLedger(parts.ledger) };
  const transfers = matchTransfers(context, keyedBlock, watched);
  const wanted = new Map(memory.open.flatMap((row) => row.versions.map(({ txid }) => [txid, row] as const)));
  const outcomes = wanted.size === 0 ? [] : module.outcomesIn(network, block, new Set(wanted.keys()));
  const withdrawals = outcomes.map((outcome) => inclusionOf(module, wanted.get(outcome.txid)!, outcome, block));
  if ((decoded.unattributed?.length ?? 0) > 0) await keepUnattributed(run, block, decoded.unattributed!);
  return {
    keyed: keyedBlock,
    record: { registry, link: linkOf(block), previous, transfers, withdrawals, unresolved: null },
  };
}

/** Without what was paid in a token before it was watched: it is never credited. Treasury K13. */
async function watchedTokensOf({ tokenStarts }: WatcherParts, block: KeyedBlock): Promise<KeyedBlock> {
  if (tokenStarts === undefined || block.transfers.every(({ tokenContract }) => tokenContract === null)) return block;
  const starts = await tokenStarts();
  const isWatched = ({ tokenContract }: KeyedTransfer) =>
    tokenContract === null || (starts.get(tokenContract) ?? 0) <= block.height;
  return starts.size === 0 ? block : { ...block, transfers: block.transfers.filter(isWatched) };
}

/**
 * The fee that a withdrawal paid, smallest native unit: as the chain reports it, else as the bytes of the version that
 * landed fix it; null where neither does.
 */
export function feePaid(
  module: Pick<ChainModule, 'exactFee'>,
  row: WithdrawalRow,
  { txid, fee }: Outcome,
): string | null {
  const landed = row.versions.find((version) => version.txid === txid);
  return (fee ?? (landed === undefined ? null : (module.exactFee?.(landed.payload) ?? null)))?.toString() ?? null;
}

/** What left the sender beside what arrives, for a fact. */
export const takenOf = ({ taken }: Pick<Outcome, 'taken'>): { taken?: string } =>
  taken === undefined ? {} : { taken: String(taken) };

/** The fact that a withdrawal's transaction is in a block. */
export function inclusionOf(
  module: Pick<ChainModule, 'exactFee'>,
  row: WithdrawalRow,
  outcome: Outcome,
  at: Cursor,
): BlockRecord['withdrawals'][number] {
  return {
    accountId: row.accountId,
    fact: {
      kind: 'withdrawal_included',
      withdrawalId: row.id,
      txid: outcome.txid,
      height: at.height,
      blockHash: at.hash,
      success: outcome.success,
      reason: outcome.reason,
      fee: feePaid(module, row, outcome),
      ...takenOf(outcome),
    },
  };
}

/** Watched addresses among keys, by key. */
export async function watchedOf(
  parts: WatcherParts,
  addressKeys: readonly string[],
): Promise<Map<string, WatchedAddress>> {
  const keys = [...new Set(addressKeys)];
  const found = new Map<string, WatchedAddress>();
  for (let from = 0; from < keys.length; from += KEYS_PER_LOOKUP) {
    const hits = await parts.store.watched(environmentOfLedger(parts), keys.slice(from, from + KEYS_PER_LOOKUP));
    for (const hit of hits) found.set(hit.addressKey, hit);
  }
  return found;
}

/**
 * Growth of watched addresses that no payer explains goes to the operator's table, once per block and asset. G24, V10.
 */
async function keepUnattributed(run: Run, block: Block, growth: readonly Unattributed[]): Promise<void> {
  const { parts } = run;
  const environment = environmentOfLedger(parts);
  const located = growth.map((one) => ({ one, key: keyOf(parts.module, parts.network, environment, one.to) ?? '' }));
  const watched = await watchedOf(
    parts,
    located.flatMap(({ key }) => (key === '' ? [] : [key])),
  );
  for (const [, movements] of Map.groupBy(located, ({ one, key }) => `${key} ${one.tokenContract ?? ''}`)) {
    const {
      one: { tokenContract },
      key,
    } = movements[0]!;
    const address = watched.get(key);
    if (address === undefined || address.purpose !== 'deposit') continue;
    const amount = movements.reduce((sum, { one }) => sum + one.amount, 0n);
    await recordUnattributed(parts, address, {
      tokenContract,
      amount,
      expected: 0n,
      found: amount,
      height: block.height,
      evidence: {
        blockHash: block.hash,
        movements: movements.map(({ one }) => ({
          reason: one.reason,
          evidence: one.evidence,
          amount: one.amount.toString(),
        })),
      },
    });
  }
}
