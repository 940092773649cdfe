/**
 * Whose word is believed about what is in a block. Endpoints that hold the same hash may still report other movements
 * under it, for a hash is checked and an amount is not: before a fact matures its block is read again from living
 * endpoints, by each alone, until two of them report the recorded movement. The endpoint that it was recorded from is
 * at most one of the two.
 *
 *   endpoints    A reports 5 · B reports 5              → confirmed
 *                A reports 5 · B reports 50 (recorded: 5) → contradicted: waits, and a third is asked
 *                A reports 50 · B and C report 5 (recorded: 50) → refuted: the block is recorded again as B reports it
 *                A reports 5 · B does not answer        → waits for B, until B is dead (G11)
 */
import { ChainUnavailable } from '../../chains/chain.ts';
import type { Cursor } from '../../model/ports/watch-store.ts';
import type { SeenTransfer } from '../../model/rows/inbox.ts';
import { isInside, readAgreed, readBy, servingOf } from '../follow/movements.ts';
import { contentOf, decodedOf, environmentOfLedger } from '../follow/content.ts';
import { keyOf } from '../follow/match.ts';
import type { Run } from '../memory.ts';
import type { WatcherParts } from '../ports.ts';
import { orNull, type LivingEndpoint } from '../follow/quorum.ts';

const WITNESSES_NEEDED = 2;
const NO_MOVEMENT = 'none';

export type Judgement = 'confirmed' | 'contradicted' | 'refuted' | 'waits';

/**
 * What living endpoints make of a recorded movement. `reported` holds what each that answered has under its key, null
 * where it cannot know such a movement; `asked` counts all that are alive, so that a silent one is waited for. As with
 * hashes two are needed, and more than report otherwise; where one alone can know, its word counts.
 */
export function judgeMovement(recorded: string, reported: readonly (string | null)[], asked: number): Judgement {
  const words = reported.filter((word) => word !== null);
  const knowing = asked - (reported.length - words.length);
  if (knowing === 0) return 'confirmed';
  const same = words.filter((word) => word === recorded).length,
    others = words.filter((word) => word !== recorded);
  if (same >= Math.min(WITNESSES_NEEDED, knowing) && same > others.length) return 'confirmed';
  const agreed = Math.max(0, ...[...Map.groupBy(others, (word) => word).values()].map((alike) => alike.length));
  if (agreed >= WITNESSES_NEEDED && agreed > same) return 'refuted';
  return others.length > 0 ? 'contradicted' : 'waits';
}

export interface Agreement {
  /** Fewer than two that serve blocks are alive: nobody was asked, and all facts are confirmed as they are. */
  readonly alone: boolean;
  readonly confirmed: readonly SeenTransfer[];
  readonly contradicted: readonly SeenTransfer[];
  /** Endpoints agree on another movement than was recorded: the block is to be recorded again. */
  readonly corrected: Cursor | null;
}

interface Word {
  readonly endpoint: LivingEndpoint;
  /** In the place of each fact. */ readonly movements: readonly (string | null)[];
}

/**
 * Asks living endpoints, by each alone, about the facts of one block: two of them, more only while these do not agree.
 * Where fewer than two that serve blocks are alive the facts are confirmed as they are.
 */
export async function askWitnesses(run: Run, facts: readonly SeenTransfer[]): Promise<Agreement> {
  const nothing = { alone: true, contradicted: [], corrected: null };
  if (facts.length === 0) return { ...nothing, alone: false, confirmed: [] };
  const { height, blockHash } = facts[0]!;
  const serving = await servingOf(run, height);
  if (serving.length < WITNESSES_NEEDED) return { ...nothing, confirmed: facts };
  const words: Word[] = [];
  const judged = () =>
    facts.map((fact, index) =>
      judgeMovement(
        recordedOf(run.parts, fact),
        words.map(({ movements }) => movements[index] ?? null),
        serving.length,
      ),
    );
  for (let n = 0; n < serving.length; n += 1) {
    // Another one comes first at each height: the load is spread.
    const word = await wordOf(run, serving[(height + n) % serving.length]!, height, blockHash, facts);
    if (word !== null) words.push(word);
    if (judged().every((judgement) => judgement === 'confirmed' || judgement === 'refuted')) break;
  }
  const judgements = judged(),
    of = (wanted: Judgement[]) => facts.filter((_, i) => wanted.includes(judgements[i]!));
  report(run.parts, facts, words);
  return {
    alone: false,
    confirmed: of(['confirmed']),
    contradicted: of(['contradicted', 'refuted']),
    corrected: of(['refuted']).length === 0 ? null : { height, hash: blockHash },
  };
}

/**
 * Records the facts of a block again as endpoints agree on them: what was reported falsely is orphaned, what is there
 * is seen with its true amount. Nothing that matured is touched. Throws: ChainUnavailable when its content cannot be
 * proven.
 */
export async function recordAgain(run: Run, { height, hash }: Cursor): Promise<void> {
  const { parts, memory, waker } = run;
  const block = await readAgreed(run, height);
  if (block.hash !== hash) throw new ChainUnavailable(parts.network.slug, `the chain holds another block at ${height}`);
  const { keyed: decoded, record } = await contentOf(run, block, null);
  memory.recent = memory.recent.map((kept) => (kept.hash === hash ? decoded : kept));
  waker.wake(await parts.store.correctBlock(parts.ledger, { height, hash }, record.transfers));
  parts.log.warn({ ledger: parts.ledger, height, hash }, 'a block was recorded again as two endpoints report it');
}

const movementOf = (addressKey: string, amount: string, tokenContract: string | null): string =>
  `${addressKey} ${amount} ${tokenContract ?? ''}`;

function recordedOf(parts: WatcherParts, { address, amount, tokenContract }: SeenTransfer): string {
  return movementOf(
    keyOf(parts.module, parts.network, environmentOfLedger(parts), address) ?? '',
    amount,
    tokenContract,
  );
}

/**
 * What one endpoint reports in the place of each fact: the movement itself where it reports one of that value, else all
 * that it reports of the transaction. By value: an endpoint's own count of frames makes no difference. Null when it
 * cannot prove this block now.
 */
async function wordOf(
  run: Run,
  endpoint: LivingEndpoint,
  height: number,
  hash: string,
  facts: readonly SeenTransfer[],
): Promise<Word | null> {
  const { parts } = run;
  return orNull(
    (async () => {
      const { block, inside } = await readBy(run, endpoint, height);
      if (block.hash !== hash) return null;
      const wanted = new Set(facts.map(({ txid }) => txid));
      const reported = Map.groupBy(
        decodedOf(parts, block).keyed.transfers.filter(({ txid }) => wanted.has(txid)),
        ({ txid }) => txid,
      );
      const left = new Map(
        [...reported].map(([txid, transfers]) => [
          txid,
          transfers.map((transfer) =>
            movementOf(transfer.addressKey, transfer.amount.toString(), transfer.tokenContract),
          ),
        ]),
      );
      const movements = facts.map((fact): string | null => {
        const ofTransaction = left.get(fact.txid) ?? [],
          at = ofTransaction.indexOf(recordedOf(parts, fact));
        if (at !== -1) return ofTransaction.splice(at, 1)[0]!;
        return (
          NO_MOVEMENT +
          (reported.get(fact.txid) ?? [])
            .map(
              (transfer) => ` ${movementOf(transfer.addressKey, transfer.amount.toString(), transfer.tokenContract)}`,
            )
            .sort()
            .join()
        );
      });
      const knows = (fact: SeenTransfer): boolean =>
        isInside(fact) ? inside : fact.tokenContract === null || parts.catalogue.has(fact.tokenContract);
      // A node without traces knows no internal payment; of a token that was taken out of the catalogue nobody speaks.
      return {
        endpoint,
        movements: movements.map((word, index) =>
          word!.startsWith(NO_MOVEMENT) && !knows(facts[index]!) ? null : word,
        ),
      };
    })(),
  );
}

const TXIDS_LOGGED_MAX = 20;

/** Logs which endpoint to check, also where the others outvoted it. */
function report(parts: WatcherParts, facts: readonly SeenTransfer[], words: readonly Word[]): void {
  const { height, blockHash } = facts[0]!;
  const against = facts.flatMap((fact, index) => {
    const recorded = recordedOf(parts, fact);
    const endpoints = words
      .filter(({ movements }) => ![null, undefined, recorded].includes(movements[index]))
      .map(({ endpoint }) => endpoint.position);
    return endpoints.length === 0
      ? []
      : [`${fact.txid}:${fact.outputIndex} otherwise by endpoint ${endpoints.join(', ')}`];
  });
  if (against.length === 0) return;
  parts.log.error(
    { ledger: parts.ledger, height, hash: blockHash, txids: against.slice(0, TXIDS_LOGGED_MAX) },
    'endpoints contradict the recorded movements of a block: check which one is wrong',
  );
}
