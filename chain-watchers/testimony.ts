/**
 * Whose word is believed about what is in a block. Endpoints that hold the same hash may still tell other movements under it,
 * for a hash is checked and an amount is not: before a fact matures its block is read again from living endpoints, by each
 * alone, until two of them tell the movement that was recorded. Whoever recorded it is at most one of the two.
 *
 *   endpoints    A tells 5 · B tells 5                 → confirmed
 *                A tells 5 · B tells 50 (recorded: 5)  → contradicted: waits, and a third is asked
 *                A tells 50 · B and C tell 5 (recorded: 50) → refuted: the block is recorded again as B tells it
 *                A tells 5 · B does not answer         → waits for B, until B is dead (G11)
 */
import type { Block, ChainClient, Transfer } from '../chains/chain.ts';
import type { SeenTransfer } from '../persistence/rows.ts';
import { chainFailure, contentOf, environmentOfLedger } from './content.ts';
import { keyed, keyOf } from './match.ts';
import type { Run } from './memory.ts';
import type { WatcherParts } from './ports.ts';
import type { LivingEndpoint } from './quorum.ts';

const WITNESSES_NEEDED = 2;
const NO_MOVEMENT = 'none';

export type Judgement = 'confirmed' | 'contradicted' | 'refuted' | 'waits';

/**
 * What living endpoints make of a recorded movement. `told` holds what each that answered has under its key, null where it
 * cannot know such a movement; `asked` counts all that are alive, so that a silent one is waited for. As with hashes two
 * are needed, and more than tell otherwise; where one alone can know, its word stands.
 */
export function judgeMovement(recorded: string, told: readonly (string | null)[], asked: number): Judgement {
  const words = told.filter((word) => word !== null);
  const knowing = asked - (told.length - words.length);
  if (knowing === 0) return 'confirmed';
  const same = words.filter((word) => word === recorded).length, others = words.filter((word) => word !== recorded);
  if (same >= Math.min(WITNESSES_NEEDED, knowing) && same > others.length) return 'confirmed';
  const agreed = Math.max(0, ...[...Map.groupBy(others, (word) => word).values()].map((alike) => alike.length));
  if (agreed >= WITNESSES_NEEDED && agreed > same) return 'refuted';
  return others.length > 0 ? 'contradicted' : 'waits';
}

export interface Testimony {
  readonly confirmed: readonly SeenTransfer[];
  readonly contradicted: readonly SeenTransfer[];
  /** The block as endpoints tell it that agree on another movement than was recorded. */
  readonly corrected: Block | null;
}

interface Word { readonly endpoint: LivingEndpoint; readonly block: Block; readonly movements: ReadonlyMap<string, string | null> }

/**
 * Asks living endpoints, by each alone, about the facts of one block: two of them, more only while these do not agree. Where
 * fewer than two that serve blocks are alive the facts are confirmed as they are.
 */
export async function hearWitnesses(
  run: Run, living: readonly LivingEndpoint[], facts: readonly SeenTransfer[],
): Promise<Testimony> {
  const nothing = { contradicted: [], corrected: null };
  if (facts.length === 0) return { ...nothing, confirmed: [] };
  const serving = (await Promise.all(living.map(async (one) => (await servesBlocks(one.client) ? [one] : [])))).flat();
  if (serving.length < WITNESSES_NEEDED) return { ...nothing, confirmed: facts };
  const { height, blockHash } = facts[0]!;
  const words: Word[] = [];
  const judged = () => facts.map((fact) => judgeMovement(
    recordedOf(run.parts, fact), words.map(({ movements }) => movements.get(keyOfFact(fact)) ?? null), serving.length));
  for (let n = 0; n < serving.length; n += 1) {
    // Another one comes first at each height: the load is spread.
    const word = await wordOf(run.parts, serving[(height + n) % serving.length]!, height, blockHash, facts);
    if (word !== null) words.push(word);
    if (judged().every((judgement) => judgement === 'confirmed' || judgement === 'refuted')) break;
  }
  const judgements = judged(), of = (wanted: Judgement[]) => facts.filter((_, i) => wanted.includes(judgements[i]!));
  report(run.parts, facts, words);
  const refuted = of(['refuted'])[0];
  const correct = refuted === undefined ? undefined : wordAgainst(run.parts, refuted, words);
  return {
    confirmed: of(['confirmed']), contradicted: of(['contradicted', 'refuted']),
    corrected: correct?.block ?? null,
  };
}

/**
 * Records the facts of a block again as endpoints agree on them: what was told falsely is orphaned, what is there is seen with
 * its true amount. Nothing that matured is touched. Throws: ChainUnavailable when its content cannot be proven.
 */
export async function recordAgain(run: Run, block: Block): Promise<void> {
  const { parts, memory, bell } = run, { height, hash } = block;
  const { keyed: told, record } = await contentOf(run, block, null);
  memory.recent = memory.recent.map((kept) => (kept.hash === hash ? told : kept));
  bell.ring(await parts.store.retellBlock(parts.ledger, { height, hash }, record.transfers));
  parts.log.warn({ ledger: parts.ledger, height, hash }, 'a block was recorded again as two endpoints tell it');
}

const keyOfFact = ({ txid, outputIndex }: Pick<Transfer, 'txid' | 'outputIndex'>): string => `${txid}:${outputIndex}`;

/** A payment out of a contract call, on the families where nodes may not tell of them: below −1, which is the call's own value. */
const isInternal = ({ outputIndex }: SeenTransfer): boolean => outputIndex < -1;

const movementOf = (addressKey: string, amount: string, tokenContract: string | null): string =>
  `${addressKey} ${amount} ${tokenContract ?? ''}`;

function recordedOf(parts: WatcherParts, { address, amount, tokenContract }: SeenTransfer): string {
  return movementOf(keyOf(parts.module, parts.network, environmentOfLedger(parts), address) ?? '', amount, tokenContract);
}

async function servesBlocks(client: ChainClient): Promise<boolean> {
  return await quietly(client.servesBlocks?.() ?? Promise.resolve(true)) ?? true;
}

/** What one endpoint tells of the facts' keys; null when it cannot prove this block now. */
async function wordOf(
  parts: WatcherParts, endpoint: LivingEndpoint, height: number, hash: string, facts: readonly SeenTransfer[],
): Promise<Word | null> {
  const { module, network, catalogue } = parts;
  return quietly((async () => {
    const block = await endpoint.client.getBlock(height);
    if (block.hash !== hash) return null;
    const wanted = new Set(facts.map(({ txid }) => txid));
    const own = module.transfersIn(network, block, catalogue).transfers.filter(({ txid }) => wanted.has(txid));
    const told = new Map(keyed(module, network, environmentOfLedger(parts), block, own).transfers.map((transfer) =>
      [keyOfFact(transfer), movementOf(transfer.addressKey, transfer.amount.toString(), transfer.tokenContract)]));
    const absent = facts.filter((fact) => !told.has(keyOfFact(fact)));
    const seesInternal = !absent.some(isInternal) || (await endpoint.client.seesInternal?.() ?? true);
    const knows = (fact: SeenTransfer): boolean => (isInternal(fact) ? seesInternal
      : fact.tokenContract === null || catalogue.has(fact.tokenContract));
    return {
      endpoint, block,
      movements: new Map(facts.map((fact) => [keyOfFact(fact), told.get(keyOfFact(fact))
        // A node without traces knows no internal payment; of a token that was taken out of the catalogue nobody speaks.
        ?? (knows(fact) ? NO_MOVEMENT : null)])),
    };
  })());
}

function wordAgainst(parts: WatcherParts, fact: SeenTransfer, words: readonly Word[]): Word | undefined {
  const recorded = recordedOf(parts, fact);
  const others = words.filter(({ movements }) => ![null, undefined, recorded].includes(movements.get(keyOfFact(fact))));
  const alike = Map.groupBy(others, ({ movements }) => movements.get(keyOfFact(fact)));
  return [...alike.values()].sort((a, b) => b.length - a.length)[0]?.[0];
}

const TXIDS_LOGGED_MAX = 20;

/** An operator is told whom to look at, also where the others outvoted it. */
function report(parts: WatcherParts, facts: readonly SeenTransfer[], words: readonly Word[]): void {
  const { height, blockHash } = facts[0]!;
  const against = facts.flatMap((fact) => {
    const recorded = recordedOf(parts, fact);
    const endpoints = words.filter(({ movements }) => ![null, undefined, recorded].includes(movements.get(keyOfFact(fact))))
      .map(({ endpoint }) => endpoint.position);
    return endpoints.length === 0 ? [] : [`${fact.txid}:${fact.outputIndex} otherwise by endpoint ${endpoints.join(', ')}`];
  });
  if (against.length === 0) return;
  parts.log.error({ ledger: parts.ledger, height, hash: blockHash, txids: against.slice(0, TXIDS_LOGGED_MAX) },
    'endpoints tell other movements of a block than were recorded: see which of them lies');
}

async function quietly<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (chainFailure(error) === null) throw error;
    return null;
  }
}
