import test from 'ava';
import fc from 'fast-check';
import type { AddressRow, Adoption } from '../../../model/rows/address.ts';
import type { DepositRow } from '../../../model/rows/deposit.ts';
import type { Fact, InboxRow, SeenTransfer } from '../../../model/rows/inbox.ts';
import { eventId } from '../../../protocol/node/ids.ts';
import { commands, dep, enrolled, NOW_MS, rowsOf, TestAccount } from '../../support/account.ts';

type Kind = 'seen' | 'matured' | 'orphaned' | 'moved';
const BLOCK_A = { height: 100, blockHash: '0xaa' },
  BLOCK_B = { height: 101, blockHash: '0xbb' };

/** An account with one issued address, and its deposits as the store would read them back. */
class Depositor {
  readonly account: TestAccount;
  address: AddressRow;
  readonly own: AddressRow[];
  others: AddressRow[] = [];
  adoptions: Adoption[] = [];
  ownTxids: string[] = [];
  readonly deposits = new Map<string, DepositRow>();
  #ids = 0;

  constructor(account = enrolled()) {
    this.account = account;
    this.address = account.accept(commands.createAddress({ userRef: 'u-1', tag: 't-1' })).reply;
    this.own = rowsOf(account.rows, 'address')
      .map(({ row }) => row)
      .filter(({ purpose }) => purpose !== 'deposit');
  }

  transfer(more: Partial<SeenTransfer> = {}): SeenTransfer {
    return {
      ledger: 'eth',
      chain: 'eth',
      txid: '0x01',
      outputIndex: 0,
      addressId: this.address.id,
      address: this.address.address,
      amount: '1500000',
      decimals: 6,
      tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      tokenSymbol: 'USDC',
      chainTag: null,
      from: ['0x00000000000000000000000000000000000000AA'],
      activates: false,
      threshold: 12,
      confirmations: 1,
      ...BLOCK_A,
      ...more,
    };
  }

  facts(...facts: [Kind, SeenTransfer][]) {
    const inbox: InboxRow[] = facts.map(([kind, deposit]) => {
      this.#ids += 1;
      return { id: String(this.#ids), accountId: this.account.state.accountId, fact: { kind, deposit } as Fact };
    });
    const taken = this.account.accept({
      type: 'apply_facts',
      inbox,
      deposits: [...this.deposits.values()],
      withdrawals: [],
      addresses: [this.address, ...this.others, ...this.own],
      adoptions: this.adoptions,
      ownTxids: this.ownTxids,
      depositIds: inbox.map(dep),
    });
    for (const { row } of rowsOf(taken.rows, 'deposit')) this.deposits.set(row.id, row);
    t0(rowsOf(taken.rows, 'inbox_taken')[0]?.ids.length === facts.length);
    return taken;
  }

  get deposit(): DepositRow {
    const [only, ...others] = this.deposits.values();
    t0(only !== undefined && others.length === 0);
    return only!;
  }

  /** Credits less reversals. */
  get balance(): bigint {
    return rowsOf(this.account.rows, 'ledger_entry').reduce(
      (sum, { row }) => sum + (row.kind === 'detected' ? 0n : row.amount),
      0n,
    );
  }

  get told(): string[] {
    return this.account.published().map(({ event }) => event);
  }
}

/** A condition of the harness itself. */
function t0(holds: boolean): void {
  if (!holds) throw new Error('the harness lost a row');
}

test('§3.6 detected at one confirmation, credited at the threshold: one entry and one event each', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer()]);
  t.is(given.deposit.status, 'detected');
  t.is(given.balance, 0n);
  given.facts(['matured', given.transfer({ confirmations: 12 })]);
  t.like(given.deposit, { status: 'confirmed', incarnation: 1, amount: 1_500_000n, userRef: 'u-1', tag: 't-1' });
  t.is(given.balance, 1_500_000n);
  t.deepEqual(given.told, ['deposit_detected', 'deposit_confirmed']);
  t.deepEqual(
    rowsOf(given.account.rows, 'ledger_entry').map(({ row }) => [row.kind, row.incarnation, row.amount]),
    [
      ['detected', 1, 1_500_000n],
      ['credit', 1, 1_500_000n],
    ],
  );
});

test('§6 the envelope of a deposit event, field by field and in order; its id is made of the fact (I12)', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer({ chainTag: '77' })]);
  const [{ row }] = rowsOf(given.account.rows, 'publication') as [ReturnType<typeof rowsOf<'publication'>>[0]];
  const id = eventId('eth', '0x01', 0, 1, 'deposit_detected');
  t.is(row.eventId, id);
  t.is(row.orderKey, given.address.address);
  t.false(row.toAll);
  t.is(
    row.body,
    JSON.stringify({
      event: 'deposit_detected',
      id,
      environment: 'live',
      confirmations: 1,
      threshold: 12,
      timestamp: new Date(NOW_MS).toISOString(),
      data: {
        depositId: given.deposit.id,
        chain: 'eth',
        txid: '0x01',
        outputIndex: 0,
        address: given.address.address,
        amount: '1500000',
        amountFormatted: '1.5',
        decimals: 6,
        tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        tokenSymbol: 'USDC',
        userRef: 'u-1',
        tag: 't-1',
        chainTag: '77',
        height: 100,
        blockHash: '0xaa',
        incarnation: 1,
        paymentId: null,
        linkId: null,
      },
    }),
  );
  t.is(rowsOf(given.account.rows, 'ledger_entry')[0]!.row.eventId, id);
});

test('G18, C5-51 several thresholds crossed in one step: each event once, in order', (t) => {
  const late = new Depositor();
  late.facts(['matured', late.transfer({ confirmations: 30 })]);
  const both = new Depositor();
  both.facts(['seen', both.transfer()], ['matured', both.transfer({ confirmations: 12 })]);
  for (const given of [late, both]) {
    t.deepEqual(given.told, ['deposit_detected', 'deposit_confirmed']);
    t.is(given.balance, 1_500_000n);
  }
  t.deepEqual(
    late.account.history.filter(({ type }) => type.startsWith('deposit')).map(({ type }) => type),
    ['deposit_detected', 'deposit_confirmed'],
  );
});

test('C2-18, C2-21, C5-49 facts that are told again change nothing', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer()], ['seen', given.transfer()]);
  given.facts(['seen', given.transfer()]);
  given.facts(['matured', given.transfer({ confirmations: 12 })], ['matured', given.transfer({ confirmations: 13 })]);
  t.is(given.facts(['matured', given.transfer({ confirmations: 12 })]).events.length, 0);
  t.deepEqual(given.told, ['deposit_detected', 'deposit_confirmed']);
  t.is(given.balance, 1_500_000n);
  t.is(given.deposits.size, 1);
});

test('G1 two outputs of one transaction are two deposits (C1-2)', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer()], ['seen', given.transfer({ outputIndex: 1, amount: '7' })]);
  t.deepEqual(
    [...given.deposits.values()].map(({ outputIndex, amount }) => [outputIndex, amount]),
    [
      [0, 1_500_000n],
      [1, 7n],
    ],
  );
});

test('decisions 5: a deposit that moved to another block keeps its id, its block changes, no event (C2-17)', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer()]);
  const { id } = given.deposit;
  given.facts(['moved', given.transfer(BLOCK_B)]);
  t.like(given.deposit, { id, status: 'detected', incarnation: 1, ...BLOCK_B });
  given.facts(['matured', given.transfer({ ...BLOCK_B, confirmations: 12 })]);
  given.facts(['moved', given.transfer({ height: 102, blockHash: '0xcc' })]);
  t.like(given.deposit, { id, status: 'confirmed', height: 102 });
  t.deepEqual(given.told, ['deposit_detected', 'deposit_confirmed']);
  t.is(given.balance, 1_500_000n);
});

test('§3.6 reversed below the threshold: deposit_reversed, no deposit_confirmed, no ledger reversal (I5)', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer()], ['orphaned', given.transfer({ confirmations: 3 })]);
  t.is(given.deposit.status, 'reversed');
  t.deepEqual(given.told, ['deposit_detected', 'deposit_reversed']);
  const reversed = given.account.published()[1]!;
  t.like(reversed, {
    confirmations: 0,
    threshold: 12,
    data: { reversedFrom: 'detected', depth: 3, blockHash: '0xaa', height: 100 },
  });
  t.deepEqual(
    rowsOf(given.account.rows, 'ledger_entry').map(({ row }) => row.kind),
    ['detected'],
  );
});

test('I5 reversed after deposit_confirmed: the reversal is exactly the negative of the credit', (t) => {
  const given = new Depositor();
  given.facts(
    ['seen', given.transfer()],
    ['matured', given.transfer({ confirmations: 12 })],
    ['orphaned', given.transfer({ confirmations: 14 })],
  );
  t.is(given.balance, 0n);
  const reversal = rowsOf(given.account.rows, 'ledger_entry').at(-1)!.row;
  t.like(reversal, {
    kind: 'reversal',
    amount: -1_500_000n,
    incarnation: 1,
    eventId: given.account.published().at(-1)!.id,
  });
  t.is(given.account.published().at(-1)!.data.reversedFrom, 'confirmed');
});

test('I6 mined again after a reversal: the same deposit, incarnation + 1, no second deposit_detected, confirmed again with another id', (t) => {
  const given = new Depositor();
  given.facts(
    ['seen', given.transfer()],
    ['matured', given.transfer({ confirmations: 12 })],
    ['orphaned', given.transfer()],
  );
  const { id } = given.deposit;
  given.facts(['seen', given.transfer(BLOCK_B)]);
  t.like(given.deposit, { id, status: 'detected', incarnation: 2, ...BLOCK_B });
  t.is(rowsOf(given.account.rows, 'ledger_entry').at(-1)!.row.eventId, null);
  given.facts(['matured', given.transfer({ ...BLOCK_B, confirmations: 12 })]);
  t.deepEqual(given.told, ['deposit_detected', 'deposit_confirmed', 'deposit_reversed', 'deposit_confirmed']);
  t.is(given.account.published().at(-1)!.data.incarnation, 2);
  t.is(new Set(given.account.published().map((event) => event.id)).size, 4);
  t.is(given.balance, 1_500_000n);
});

test('an old maturity of the block that was orphaned credits nothing', (t) => {
  const given = new Depositor();
  given.facts(
    ['seen', given.transfer()],
    ['orphaned', given.transfer()],
    ['matured', given.transfer({ confirmations: 12 })],
  );
  t.is(given.deposit.status, 'reversed');
  t.is(given.balance, 0n);
});

test('an orphan of what was never heard of is nothing', (t) => {
  const given = new Depositor();
  given.facts(['orphaned', given.transfer()]);
  t.is(given.deposits.size, 0);
  t.deepEqual(given.told, []);
});

test('§2.3 a deposit to an archived address is recorded and credited, and produces no webhook', (t) => {
  const given = new Depositor();
  given.address = { ...given.address, status: 'archived' };
  given.facts(['seen', given.transfer()], ['matured', given.transfer({ confirmations: 12 })]);
  given.facts(['seen', given.transfer({ txid: '0x02' })], ['orphaned', given.transfer({ txid: '0x02' })]);
  t.is(given.balance, 1_500_000n);
  t.deepEqual(given.told, []);
  t.deepEqual(
    rowsOf(given.account.rows, 'ledger_entry').map(({ row }) => row.eventId),
    [null, null, null],
  );
});

test('§2.3 a deposit that was announced before its address was archived is told to its end, its reversal above all', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer()]);
  given.address = { ...given.address, status: 'archived' };
  given.facts(['matured', given.transfer({ confirmations: 12 })]);
  given.facts(['orphaned', given.transfer({ confirmations: 14 })]);
  t.deepEqual(given.told, ['deposit_detected', 'deposit_confirmed', 'deposit_reversed']);
  t.is(given.balance, 0n);
  // Nobody was told of this one until its address was active again; from then on the story goes on.
  given.facts(['seen', given.transfer({ txid: '0x02' })]);
  given.address = { ...given.address, status: 'active' };
  given.facts(['matured', given.transfer({ txid: '0x02', confirmations: 12 })]);
  given.address = { ...given.address, status: 'archived' };
  given.facts(['orphaned', given.transfer({ txid: '0x02', confirmations: 14 })]);
  t.deepEqual(given.told.slice(3), ['deposit_confirmed', 'deposit_reversed']);
});

test('C2 included again with another amount, token or payee: the old movement is reversed, the new one is credited as it is', (t) => {
  const given = new Depositor();
  const other = given.account.accept(commands.createAddress({ userRef: 'u-2', tag: 't-2' })).reply as AddressRow;
  const changes: Partial<SeenTransfer>[] = [
    { amount: '1' },
    { tokenContract: null, tokenSymbol: 'ETH', decimals: 18, amount: '3' },
    { addressId: other.id, address: other.address },
  ];
  for (const [n, change] of changes.entries()) {
    const txid = `0x${n}`;
    given.others = [other];
    const changed = given.transfer({ txid, ...BLOCK_B, ...change });
    given.facts(['seen', given.transfer({ txid })]);
    const before = given.told.length,
      balance = given.balance;
    given.facts(['orphaned', given.transfer({ txid })], ['seen', changed]);
    given.facts(['matured', { ...changed, confirmations: 12 }]);
    t.deepEqual(given.told.slice(before), ['deposit_reversed', 'deposit_detected', 'deposit_confirmed']);
    t.is(given.balance - balance, BigInt(changed.amount), 'what stands on the chain, not what once stood there');
    const { data } = given.account.published().at(-1)!;
    t.like(data, {
      amount: changed.amount,
      tokenContract: changed.tokenContract,
      decimals: changed.decimals,
      address: changed.address,
      incarnation: 2,
      userRef: change.address === undefined ? 'u-1' : 'u-2',
      tag: change.address === undefined ? 't-1' : 't-2',
    });
  }
  t.is(new Set(given.account.published().map(({ id }) => id)).size, given.told.length);
});

test('C2 a word about another movement under the key of a standing deposit never moves its amount', (t) => {
  for (const kind of ['moved', 'seen', 'matured'] as const) {
    const given = new Depositor();
    given.facts(['seen', given.transfer()]);
    given.facts([kind, given.transfer({ ...BLOCK_B, amount: '1', confirmations: 12 })]);
    given.facts(['matured', given.transfer({ ...BLOCK_B, amount: '1', confirmations: 12 })]);
    t.is(given.balance, 1n, kind);
    t.like(given.deposit, { amount: 1n, incarnation: 2, status: 'confirmed' });
    t.deepEqual(given.told, ['deposit_detected', 'deposit_reversed', 'deposit_detected', 'deposit_confirmed']);
  }
});

test('G20 value from the gas tank or the treasury is our own job: recorded as a fact, not credited', (t) => {
  const given = new Depositor();
  t.is(given.own.length, 2);
  for (const { address } of given.own) {
    given.facts(
      ['seen', given.transfer({ txid: `0x${address}`, from: [address] })],
      ['matured', given.transfer({ txid: `0x${address}`, from: [address], confirmations: 12 })],
    );
  }
  t.is(given.deposits.size, 0);
  t.deepEqual(given.told, []);
});

test('G20 treasury S24: a transaction that the treasury made is our own job, whoever its movement names; another of its sender is none', (t) => {
  const given = new Depositor();
  given.ownTxids = ['0x01'];
  given.facts(['seen', given.transfer()], ['matured', given.transfer({ confirmations: 12 })]);
  t.is(given.deposits.size, 0);
  given.facts(['seen', given.transfer({ txid: '0x02' })]);
  t.like(given.deposit, { txid: '0x02', status: 'detected' });
});

test('G21 change and payments of an address to itself are no deposits (B9, G22)', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer({ from: ['bc1qother', given.address.address] })]);
  t.is(given.deposits.size, 0);
});

test('G20 a payment to our own gas tank is no customer deposit', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer({ addressId: given.own[0]!.id, address: given.own[0]!.address })]);
  t.is(given.deposits.size, 0);
});

test('R7, M4 the payment that creates a ledger account is also address_activated, once', (t) => {
  const given = new Depositor();
  given.facts(
    ['seen', given.transfer({ activates: true })],
    ['matured', given.transfer({ activates: true, confirmations: 1 })],
  );
  given.facts(
    ['orphaned', given.transfer({ activates: true })],
    ['seen', given.transfer({ ...BLOCK_B, activates: true })],
  );
  t.deepEqual(given.told, ['deposit_detected', 'address_activated', 'deposit_confirmed', 'deposit_reversed']);
});

test("C8-67 memo and destination tag are on every deposit, the caller's own tag beside them", (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer({ chainTag: '0' })]);
  t.like(given.account.published()[0]!.data, { chainTag: '0', tag: 't-1' });
});

test('I6, I11 under any order and repetition of facts: credits less reversals are zero or the amount, every id once', (t) => {
  const kind = fc.constantFrom<Kind>('seen', 'matured', 'orphaned', 'moved');
  const step = fc.record({ kind, block: fc.nat({ max: 3 }), output: fc.nat({ max: 1 }), archived: fc.boolean() });
  const amountIn = (block: number): string => (block === 3 ? '7' : '1500000');
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 12 }), (batches) => {
        const given = new Depositor();
        for (const batch of batches) {
          given.address = { ...given.address, status: batch[0]!.archived ? 'archived' : 'active' };
          given.facts(
            ...batch.map(({ kind, block, output }): [Kind, SeenTransfer] => [
              kind,
              given.transfer({
                outputIndex: output,
                height: 100 + block,
                blockHash: `0x${block}`,
                amount: amountIn(block),
                confirmations: 12,
              }),
            ]),
          );
        }
        const entries = rowsOf(given.account.rows, 'ledger_entry').map(({ row }) => row);
        for (const { id, amount, status, incarnation } of given.deposits.values()) {
          const own = entries.filter(({ depositId }) => depositId === id);
          const sum = own.reduce((total, entry) => total + (entry.kind === 'detected' ? 0n : entry.amount), 0n);
          if (sum !== (status === 'confirmed' ? amount : 0n)) return false;
          const keys = own.map((entry) => `${entry.incarnation}/${entry.kind}`);
          if (new Set(keys).size !== keys.length) return false;
          if (own.filter((entry) => entry.kind === 'detected').length !== incarnation) return false;
        }
        const ids = given.account.published().map(({ id }) => id);
        const published = new Set(ids);
        return (
          published.size === ids.length && entries.every(({ eventId: told }) => told === null || published.has(told))
        );
      }),
      { numRuns: 300 },
    ),
  );
});

test('fold(events) is the state, whatever was decided', (t) => {
  const given = new Depositor();
  given.facts(['seen', given.transfer()], ['matured', given.transfer({ confirmations: 12 })]);
  given.account.accept({ type: 'note_liveness', liveness: 'live' });
  given.account.accept({ type: 'claim_lease', sessionId: 'a', liveSessions: [] });
  t.deepEqual(given.account.folded(), given.account.state);
  t.is(given.account.state.version, given.account.history.length);
});

const observing = (given: Depositor, more: Partial<Adoption> = {}): void => {
  given.address = { ...given.address, index: null, derivationPath: '[]', batchId: 'imp_1' };
  const { id: addressId } = given.address;
  given.adoptions = [{ addressId, mode: 'observe', cutovers: 0, recorded: { eth: 99 }, activated: {}, ...more }];
};

test('migration M-X2, M-O2 what is first seen before the cutover is credited and told to nobody, for ever', (t) => {
  for (const [recorded, silence] of [
    [99, 'observed'],
    [100, 'historical'],
    [101, 'historical'],
  ] as const) {
    const given = new Depositor();
    observing(given, { recorded: { eth: recorded } });
    given.facts(['seen', given.transfer({ activates: true })]);
    t.like(given.deposit, { silence, announced: false, status: 'detected' });
    // The cutover: neither its threshold, nor a reorg, nor another block, nor a further amount of it is news.
    observing(given, { mode: 'active', recorded: { eth: recorded }, activated: { eth: 100 } });
    given.facts(['matured', given.transfer({ confirmations: 12 })]);
    t.is(given.balance, 1_500_000n);
    given.facts(['orphaned', given.transfer({ confirmations: 13 })]);
    t.is(given.balance, 0n);
    given.facts(['seen', given.transfer({ ...BLOCK_B, height: 500 })]);
    given.facts(['moved', given.transfer({ ...BLOCK_A, height: 501, amount: '7' })]);
    given.facts(['matured', given.transfer({ ...BLOCK_A, height: 501, amount: '7', confirmations: 12 })]);
    t.like(given.deposit, { silence, announced: false, status: 'confirmed', amount: 7n });
    t.is(given.balance, 7n);
    t.deepEqual(given.told, []);
    given.facts(['seen', given.transfer({ txid: '0x02', height: 502 })]);
    t.deepEqual(given.told, ['deposit_detected'], 'what is first seen after it is told');
  }
});

test('migration M-O5 a block up to the height of the cutover stays silent, however late it is read', (t) => {
  const given = new Depositor();
  observing(given, { mode: 'active', activated: { eth: 120 } });
  given.facts(['matured', given.transfer({ height: 120, confirmations: 12 })]);
  t.deepEqual(given.told, []);
  t.is(given.deposit.silence, 'observed');
  given.facts(['seen', given.transfer({ txid: '0x02', height: 121 })]);
  t.deepEqual(given.told, ['deposit_detected']);
});

test('migration M-X2 a chain that was enabled after the commit has no history; whose mode is not known waits', (t) => {
  const given = new Depositor();
  observing(given, { recorded: { btc: 900_000 } });
  given.facts(['seen', given.transfer()]);
  t.is(given.deposit.silence, 'observed');
  given.adoptions = [];
  t.throws(() => given.facts(['seen', given.transfer({ txid: '0x02' })]), { message: /not known/ });
  t.deepEqual(given.told, []);
});

test('migration M-X2 an incarnation that pays another address is told or not by that address', (t) => {
  const given = new Depositor();
  const issued = given.account.accept(commands.createAddress({ userRef: 'u-2' })).reply;
  given.others = [issued];
  observing(given);
  given.facts(['matured', given.transfer({ confirmations: 12 })]);
  const elsewhere = { addressId: issued.id, address: issued.address, ...BLOCK_B };
  given.facts(['orphaned', given.transfer({ confirmations: 13 })], ['seen', given.transfer(elsewhere)]);
  t.like(given.deposit, { silence: null, announced: true, incarnation: 2, userRef: 'u-2' });
  t.deepEqual(given.told, ['deposit_detected']);
  given.facts(['moved', given.transfer({ blockHash: '0xcc', height: 102 })]);
  t.like(given.deposit, { silence: 'observed', incarnation: 3 });
  t.deepEqual(given.told, ['deposit_detected', 'deposit_reversed']);
});

test('migration M-X2 whatever the order of facts, cutovers and their withdrawal, an event is of a key first seen above the cutover', (t) => {
  const fact = fc.record({
    kind: fc.constantFrom<Kind>('seen', 'matured', 'orphaned', 'moved'),
    txid: fc.constantFrom('0x01', '0x02', '0x03'),
    height: fc.integer({ min: 95, max: 130 }),
  });
  const step = fc.oneof(fact, fc.constantFrom('activate', 'deactivate'));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const given = new Depositor();
      observing(given);
      let head = 100;
      const told = new Set<string>();
      const silent = new Set<string>();
      for (const one of steps) {
        const [adoption] = given.adoptions;
        if (typeof one === 'string') {
          given.adoptions = [
            one === 'activate'
              ? { ...adoption!, mode: 'active', activated: { eth: head } }
              : { ...adoption!, mode: 'observe' },
          ];
          continue;
        }
        head = Math.max(head, one.height);
        const first = one.kind !== 'orphaned' && !told.has(one.txid) && !silent.has(one.txid);
        if (first) {
          const above = one.height > Math.max(adoption!.recorded.eth!, adoption!.activated.eth ?? -1);
          (adoption!.mode === 'active' && above ? told : silent).add(one.txid);
        }
        given.facts([one.kind, given.transfer({ ...one, blockHash: `0x${one.height}` })]);
      }
      const published = rowsOf(given.account.rows, 'publication').map(
        ({ row }) => (JSON.parse(row.body) as { data: { txid: string } }).data.txid,
      );
      t.true(published.every((txid) => told.has(txid)));
      t.deepEqual(new Set(published), told);
      const silentOnes = [...given.deposits.values()].filter(({ silence }) => silence !== null);
      t.deepEqual(new Set(silentOnes.map(({ txid }) => txid)), silent);
    }),
    { numRuns: 60 },
  );
});
