/**
 * Transactions that every node refused, and the one that got their counter value after them: whichever lands, leaves
 * its block and lands again, in any order of the facts. What the schema refuses (`withdrawal_counter_once`) waits, with
 * the later facts of its row, and is tried again: it has to end. found F3, F83, treasury H5.
 */
import test from 'ava';
import fc from 'fast-check';
import type { Fact } from '../../../model/rows/inbox.ts';
import { isWatched } from '../../../actors/outgoing/submit.ts';
import { refuse } from '../../../protocol/errors.ts';
import { Sender } from '../../support/sender.ts';

type Kind = Extract<Fact, { withdrawalId: string }>['kind'];
interface Waiting {
  readonly kind: Kind;
  readonly blockHash: string;
}
interface Move {
  readonly what: 'lands' | 'orphaned' | 'looks' | 'applies';
  readonly which: number;
}

const HOLDS = ['signing', 'broadcast'];

/** A sender's rows of one value, the chain as it is, and the facts that wait, in their order by row. */
class OneValue {
  readonly sender = new Sender({}, 'gas_tank');
  readonly ids: string[] = [];
  readonly #waiting = new Map<string, Waiting[]>();
  #landed: { id: string; blockHash: string } | null = null;
  #blocks = 0;

  constructor(refused: number, last: 'signing' | 'broadcast' | 'refused') {
    const { sender } = this;
    for (let n = 0; n <= refused; n += 1) {
      const { id } = sender.bound();
      sender.do(sender.submit(id));
      if (n < refused || last === 'refused')
        sender.noted(id, { kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED') });
      else if (last === 'broadcast') sender.noted(id, { kind: 'accepted', txid: sender.rows.get(id)!.txid! });
      this.ids.push(id);
      this.#waiting.set(id, []);
    }
  }

  get isQuiet(): boolean {
    return [...this.#waiting.values()].every((facts) => facts.length === 0);
  }

  holders(): string[] {
    return this.ids.filter((id) => HOLDS.includes(this.sender.rows.get(id)!.status));
  }

  move({ what, which }: Move): void {
    const id = this.ids[which % this.ids.length]!;
    if (what === 'lands') this.#landed ??= { id, blockHash: `0xb${(this.#blocks += 1)}` };
    if (what === 'orphaned') this.#landed = null;
    if (what === 'looks') this.look(id, false);
    if (what === 'applies') this.apply(id);
  }

  /** What the tracker says of a row, as it reads it. Only once a block is final does it prove anything dead. */
  look(id: string, isFinal: boolean): void {
    const row = this.sender.rows.get(id)!,
      landed = this.#landed?.id === id ? this.#landed : null;
    const post = (kind: Kind, blockHash: string) => this.#waiting.get(id)!.push({ kind, blockHash });
    if (row.height !== null && row.blockHash !== landed?.blockHash) post('withdrawal_orphaned', row.blockHash!);
    const isLookedFor = row.height !== null || HOLDS.includes(row.status) || isWatched(row);
    if (!isLookedFor) return;
    if (landed !== null && row.blockHash !== landed.blockHash) post('withdrawal_included', landed.blockHash);
    if (landed !== null && isFinal) post('withdrawal_matured', landed.blockHash);
    if (this.#landed !== null && landed === null && isFinal && row.height === null) post('withdrawal_dead', '0x0');
  }

  /** The next fact of a row, unless the schema refuses it: another row has the value. */
  apply(id: string): void {
    const [fact] = this.#waiting.get(id)!,
      row = this.sender.rows.get(id)!;
    if (fact === undefined) return;
    const isTaken =
      fact.kind === 'withdrawal_orphaned' && row.height !== null && this.holders().some((one) => one !== id);
    if (isTaken) return;
    this.#waiting.get(id)!.shift();
    this.sender.fact(id, fact.kind, { blockHash: fact.blockHash });
  }

  /** One of them is final in a block. */
  end(which: number): string {
    const id = this.ids[which % this.ids.length]!;
    this.#landed = { id, blockHash: '0xfinal' };
    return id;
  }
}

const moves = fc.array(
  fc.record({
    what: fc.constantFrom('lands', 'orphaned', 'looks', 'applies') as fc.Arbitrary<Move['what']>,
    which: fc.nat({ max: 3 }),
  }),
  { maxLength: 60 },
);

test('found F3, F83, treasury H5: whichever of one counter value lands in the end, no fact waits for ever, one is paid and the others failed', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom('signing', 'broadcast', 'refused'),
        moves,
        fc.nat({ max: 3 }),
        (refused, last, steps, which) => {
          const value = new OneValue(refused, last),
            { sender, ids } = value;
          for (const step of steps) {
            value.move(step);
            if (value.holders().length > 1) return false;
          }
          const winner = value.end(which);
          for (let round = 0; round < 12; round += 1) {
            for (const id of ids) value.look(id, true);
            for (let fact = 0; fact < 100; fact += 1) for (const id of ids) value.apply(id);
            if (value.holders().length > 1) return false;
          }
          const { state } = sender.account;
          const rows = [...sender.rows.values()],
            confirmed = rows.filter(({ status }) => status === 'confirmed').map(({ id }) => id);
          const open = Object.values(state.counters).flatMap(({ inFlight }) => Object.keys(inFlight));
          return (
            value.isQuiet &&
            confirmed.join() === winner &&
            rows.every(({ id, status, height }) => id === winner || (status === 'failed' && height === null)) &&
            !rows.some(isWatched) &&
            open.length === 0 &&
            Object.keys(state.withdrawals).length === 0 &&
            JSON.stringify(sender.account.folded()) === JSON.stringify(state)
          );
        },
      ),
      { numRuns: 60 },
    ),
  );
});

test('found F83, V39: a build whose value an orphaned one took back is not signed with it', (t) => {
  const { sender, ids } = new OneValue(0, 'refused'),
    [given] = ids as [string];
  const later = sender.bound();
  t.is(sender.nonceOf(later.id), sender.nonceOf(given));
  sender.fact(given, 'withdrawal_included');
  sender.fact(given, 'withdrawal_orphaned');
  const answer = sender.account.decide(sender.submit(later.id));
  t.false(answer.ok, 'the schema would refuse it with no word for the caller');
});
