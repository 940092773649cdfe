/**
 * What became of a withdrawal, as two endpoints say it where two are alive: none of them alone makes one dead, puts it
 * into a block or says whether it succeeded there. An application that receives `withdrawal_failed` pays again. G27,
 * F73.
 *
 *   endpoints   A dead · B dead                      → dead
 *               A dead · B included, pending         → unknown: the same bytes again, and asked again
 *               A dead · B does not know, or is mute → unknown: waits for B, until B does not count as alive
 * (quorum.ts)
 *               A dead · B included · C dead         → dead: two, and more than say otherwise
 *               A alive alone                        → what A itself says, whatever others answer that are asked first
 *               none alive                           → unknown
 *               A succeeded · B failed               → neither, until a third one or a person settles it
 */
import type { ChainClient, Fate, Outcome, Unsigned } from '../../chains/chain.ts';
import { servingOf } from '../follow/movements.ts';
import type { Run } from '../memory.ts';
import { orNull, type LivingEndpoint } from '../follow/quorum.ts';

const WITNESSES_NEEDED = 2;
const REPORTED_MAX = 1_000;

export type Placed = NonNullable<Awaited<ReturnType<ChainClient['getOutcome']>>>;

/** What a version's fate is. Throws: ChainUnavailable. */
export async function fateOf(run: Run, unsigned: Unsigned, txid: string, atHeight: number): Promise<Fate> {
  const first = await run.parts.client.getFate(unsigned, txid);
  if (first.kind === 'pending' || first.kind === 'unknown') return first;
  const heard = await hear(run, txid, atHeight, (one) => one.client.getFate(unsigned, txid), {
    wordOf: (fate) =>
      fate.kind === 'included' ? placeWord(fate.outcome, fate.hash) : fate.kind === 'unknown' ? null : fate.kind,
  });
  return heard === 'alone' ? first : (heard ?? { kind: 'unknown', reason: 'endpoints do not say the same of it' });
}

/** What a transaction did in a block, as `fateOf`; null while that is not known. Throws: ChainUnavailable. */
export async function outcomeAt(run: Run, txid: string, at: { height: number; hash: string }): Promise<Placed | null> {
  const first = await run.parts.client.getOutcome(txid, at);
  if (first === null || first.hash !== at.hash) return null;
  const heard = await hear(run, txid, at.height, (one) => one.client.getOutcome(txid, at), {
    wordOf: (outcome) => (outcome === null ? 'absent' : placeWord(outcome, outcome.hash)),
  });
  if (heard === 'alone') return first;
  return heard === null || heard.hash !== at.hash ? null : heard;
}

/** Endpoints that leave the fee out say nothing about it, and those that name one must name the same. */
const placeWord = ({ success, fee }: Outcome, hash: string): string => `${hash} ${success} ${fee ?? ''}`;

/** Whether two answers are compatible: the same, or one without a fee. */
function alike(a: string, b: string): boolean {
  return a === b || (a.startsWith(b) && b.endsWith(' ')) || (b.startsWith(a) && a.endsWith(' '));
}

interface Listening<Answer> {
  /** What an answer says, so that answers can be compared; null where it says nothing. */
  wordOf(answer: Answer): string | null;
}

/**
 * The answer that two living endpoints give, and more than give another one, the most detailed of theirs; where one
 * that serves blocks is alive, what it says itself; null without that. `alone` where the chain has one endpoint.
 * Another one comes first at each height: the load is spread.
 */
async function hear<Answer>(
  run: Run,
  txid: string,
  height: number,
  ask: (one: LivingEndpoint) => Promise<Answer>,
  { wordOf }: Listening<Answer>,
): Promise<Answer | 'alone' | null> {
  const { parts } = run;
  if (parts.witnesses.length === 0) return 'alone';
  const living = await servingOf(run, height);
  if (living.length < WITNESSES_NEEDED) return living[0] === undefined ? null : orNull(ask(living[0]));
  const said: { answer: Answer; word: string; position: number }[] = [];
  for (let n = 0; n < living.length; n += 1) {
    const one = living[(height + n) % living.length]!;
    const answered = await orNull(ask(one).then((answer) => ({ answer })));
    const word = answered === null ? null : wordOf(answered.answer);
    if (word === null) continue;
    said.push({ answer: answered!.answer, word, position: one.position });
    for (const { word: candidate } of said) {
      const supporting = said.filter((other) => alike(other.word, candidate));
      if (supporting.length >= WITNESSES_NEEDED && supporting.length > said.length - supporting.length) {
        if (said.some((other) => !supporting.includes(other) && isProof(other.word))) report(run, txid, said);
        return supporting.toSorted((a, b) => b.word.length - a.word.length)[0]!.answer;
      }
    }
  }
  if (said.filter(({ word }) => isProof(word)).length >= WITNESSES_NEEDED) report(run, txid, said);
  return null;
}

/** False for an answer that an honest endpoint gives when it is merely a moment behind. */
const isProof = (word: string): boolean => word !== 'pending' && word !== 'absent';

/** Logs once for a transaction which endpoints to check. */
function report({ parts, memory }: Run, txid: string, said: readonly { word: string; position: number }[]): void {
  const endpoints = said.map(({ position }) => position).sort((a, b) => a - b),
    key = endpoints.join(',');
  if (memory.contradictedFates.get(txid) === key) return;
  memory.contradictedFates.set(txid, key);
  if (memory.contradictedFates.size > REPORTED_MAX)
    memory.contradictedFates.delete(memory.contradictedFates.keys().next().value!);
  parts.log.error(
    { ledger: parts.ledger, txid, endpoints, said: said.map(({ word }) => word) },
    'endpoints contradict each other about what became of a withdrawal: check which one is wrong',
  );
}
