/**
 * A random story of one link: payments are opened, transfers come, confirm, leave the chain and come back, other
 * movements take their place, the link is paused, patched and closed, the clock goes on. After each step what the
 * account decided is compared with a model that knows no book: it has the list of transfers, and computes everything
 * from it anew. payments B1.
 */
import type fc from 'fast-check';
import { closed } from '../../actors/payment/closing.ts';
import { termsOf } from '../../actors/payment/sums.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import type { Fact, SeenTransfer } from '../../model/rows/inbox.ts';
import type { PaymentLinkRow, PaymentRow } from '../../model/rows/payment.ts';
import type { AddressMode, ClosedReason, LinkMode, PaymentStatus } from '../../protocol/slugs.ts';
import { dep, NOW_MS, rowsOf, TestAccount } from './account.ts';
import { CheckoutStore, type Planted } from './checkout-rows.ts';

type Sums = Record<'seen' | 'confirmed' | 'late', bigint>;
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

export interface LinkShape {
  readonly mode: LinkMode;
  readonly addressMode: AddressMode;
  readonly minAmount: bigint | null;
  readonly thresholdAmount: bigint | null;
  readonly toleranceBps: number;
}

/** A transfer as the model has it. */
interface Told {
  readonly txid: string;
  readonly addressId: string;
  amount: bigint;
  state: 'detected' | 'confirmed' | 'reversed';
  role: 'counted' | 'late' | 'wrong_asset' | 'wrong_network';
  payment: string | null;
  seen: SeenTransfer;
  /** Confirmed now: what was announced as unmatched. */
  incarnation: number;
}

export class CheckoutStory {
  readonly account = new TestAccount();
  readonly store: CheckoutStore;
  readonly shape: LinkShape;
  readonly addresses: AddressRow[] = [];
  readonly deposits = new Map<string, DepositRow>();
  readonly told: Told[] = [];
  head = 100;
  #serial = 0;
  /** What the model says that the link is. */
  #closedAt: number | null = null;
  #reason: ClosedReason | null = null;
  readonly #expected: string[] = [];
  readonly #linkId = 'lnk_1';
  /** By payment: what its invoice must say, in the order in which they were issued. I1, I2. */
  readonly #invoices = new Map<string, { number: number; paid: string }>();
  readonly #ids = new Set<string>();
  readonly #published: string[] = [];

  constructor(shape: LinkShape, planted: Planted | null = null) {
    this.shape = shape;
    this.store = new CheckoutStore(planted);
    if (shape.addressMode === 'shared') this.#lend(null);
    const shared = this.addresses[0];
    const row: PaymentLinkRow = {
      id: this.#linkId,
      accountId: this.account.state.accountId,
      version: 1,
      slug: 'k3vqx2mfd5zt4c7a',
      mode: shape.mode,
      addressMode: shape.addressMode,
      chain: 'eth',
      asset: 'USDC',
      tokenContract: USDC,
      decimals: 6,
      amount: shape.mode === 'fixed' ? 100n : null,
      thresholdAmount: shape.thresholdAmount,
      minAmount: shape.minAmount,
      maxAmount: null,
      closesAtMs: null,
      maxUses: null,
      title: 'Order',
      description: null,
      collectEmail: true,
      successUrl: null,
      metadata: '{"order":"1001"}',
      status: 'active',
      closedReason: null,
      closedAtMs: null,
      closedAtHeight: null,
      monitorUntilMs: null,
      addressId: shared?.id ?? null,
      address: shared?.address ?? null,
      derivationPath: shared?.derivationPath ?? null,
      amountRaised: 0n,
      paymentCount: 0,
      uses: 0,
      createdAtMs: NOW_MS,
      updatedAtMs: NOW_MS,
    };
    this.store.links.set(row.id, row);
  }

  get link(): PaymentLinkRow {
    return this.store.links.get(this.#linkId)!;
  }

  step(op: Op): void {
    if (op.kind === 'open') this.#open();
    else if (op.kind === 'clock') this.#clock(op.by);
    else if (op.kind === 'close') this.#close();
    else if (op.kind === 'pause') this.#pause();
    else if (op.kind === 'threshold') this.#patch(BigInt(op.by * 40));
    else if (op.kind === 'pay') this.#pay(op);
    else if ('at' in op) this.#again(op);
    this.compare();
  }

  #open(): void {
    if (this.shape.addressMode === 'shared' || this.link.status !== 'active') return;
    const id = `pay_${String((this.#serial += 1)).padStart(26, 'a')}`;
    const address = this.#lend(id);
    const row: PaymentRow = {
      id,
      accountId: this.account.state.accountId,
      linkId: this.#linkId,
      version: 1,
      status: 'awaiting_payment',
      ...termsOf(this.link, this.shape.toleranceBps),
      seen: 0n,
      confirmed: 0n,
      late: 0n,
      addressId: address.id,
      address: address.address,
      derivationPath: address.derivationPath,
      addressReused: false,
      customerEmail: 'ada@example.com',
      customerName: null,
      language: null,
      payerKey: null,
      clientKey: null,
      invoiceId: null,
      invoiceNumber: null,
      expiresAtMs: this.account.nowMs + 3_600_000,
      openedAtMs: this.account.nowMs,
      updatedAtMs: this.account.nowMs,
    };
    this.store.payments.set(id, row);
  }

  #lend(paymentId: string | null): AddressRow {
    const index = this.addresses.length,
      address: AddressRow = {
        id: `adr_${index}`,
        accountId: this.account.state.accountId,
        chain: 'eth',
        family: 'evm',
        address: `0x${String(index).padStart(40, '0')}`,
        addressKey: `${index}`,
        derivationPath: `m/44'/60'/0'/0/${index}`,
        purpose: 'deposit',
        index,
        userRef: null,
        tag: 'checkout',
        label: this.#linkId,
        status: 'active',
        createdAtMs: NOW_MS,
      };
    this.addresses.push(address);
    const { id: addressId, accountId } = address;
    this.store.lent.push({
      id: `lent_${index}`,
      accountId,
      addressId,
      linkId: this.#linkId,
      paymentId,
      reused: false,
      lentAtMs: this.account.nowMs,
      releasedAtMs: null,
      paidAtMs: null,
    });
    return address;
  }

  #clock(hours: number): void {
    this.account.nowMs += hours * 1_200_000;
    for (const payment of this.store.payments.values())
      if (payment.status === 'awaiting_payment' && payment.expiresAtMs <= this.account.nowMs)
        this.store.payments.set(payment.id, { ...payment, status: 'expired', version: payment.version + 1 });
  }

  #close(): void {
    if (this.link.status === 'closed') return;
    const row = closed(this.link, 'manual', this.head, this.account.nowMs, 30);
    this.store.write([
      { table: 'payment_link', row: { ...row, version: row.version + 1 } },
      { table: 'payments_expired', linkId: row.id },
    ]);
    this.#closedAt = this.head;
    this.#reason = 'manual';
  }

  #pause(): void {
    const { link } = this;
    if (link.status === 'closed') return;
    this.store.links.set(link.id, {
      ...link,
      version: link.version + 1,
      status: link.status === 'active' ? 'paused' : 'active',
    });
  }

  /** A threshold that is not reached yet. */
  #patch(thresholdAmount: bigint): void {
    const { link } = this;
    if (link.mode === 'fixed' || link.status === 'closed' || thresholdAmount <= link.amountRaised) return;
    this.store.links.set(link.id, { ...link, version: link.version + 1, thresholdAmount });
  }

  #pay({ at, amount, stray, below }: Extract<Op, { kind: 'pay' }>): void {
    const address = this.addresses[at % Math.max(1, this.addresses.length)];
    if (address === undefined) return;
    this.head += 1;
    const height = this.head - (below ? 3 : 0);
    const seen: SeenTransfer = {
      ledger: stray === 'wrong_network' ? 'polygon' : 'eth',
      chain: stray === 'wrong_network' ? 'polygon' : 'eth',
      txid: `0x${(this.#serial += 1).toString(16)}`,
      outputIndex: 0,
      addressId: address.id,
      address: address.address,
      amount: String(amount),
      decimals: 6,
      tokenContract: stray === 'wrong_asset' ? null : USDC,
      tokenSymbol: stray === 'wrong_asset' ? 'ETH' : 'USDC',
      chainTag: null,
      from: ['0x00000000000000000000000000000000000000AA'],
      activates: false,
      threshold: 12,
      confirmations: 1,
      height,
      blockHash: `0xb${height}`,
    };
    const told: Told = {
      txid: seen.txid,
      addressId: address.id,
      amount: BigInt(amount),
      state: 'reversed',
      role: 'counted',
      payment: null,
      seen,
      incarnation: 0,
    };
    this.told.push(told);
    this.#fact('seen', told, 'new');
  }

  #again({ kind, at, amount }: Again): void {
    const told = this.told[at % Math.max(1, this.told.length)];
    if (told === undefined) return;
    this.head += 1;
    if (kind === 'confirm' && told.state === 'detected') this.#fact('matured', told, 'same');
    else if (kind === 'reorg' && told.state !== 'reversed') this.#fact('orphaned', told, 'same');
    else if (kind === 'return' && told.state === 'reversed') {
      told.seen = { ...told.seen, height: this.head, blockHash: `0xb${this.head}` };
      this.#fact('seen', told, 'same');
    } else if (kind === 'contradict' && told.state !== 'reversed') {
      told.seen = { ...told.seen, height: this.head, blockHash: `0xb${this.head}`, amount: String(amount) };
      if (BigInt(amount) === told.amount) return;
      this.#fact('seen', told, 'other');
    }
  }

  #fact(kind: 'seen' | 'matured' | 'orphaned', told: Told, movement: 'new' | 'same' | 'other'): void {
    this.#predict(kind, told, movement);
    const { accountId } = this.account.state;
    if (this.store.planted === 'number_reused') this.account.state.invoices = { year: 0, last: 0 };
    const confirmations = kind === 'seen' ? 1 : kind === 'matured' ? 12 : 2;
    const fact = { kind, deposit: { ...told.seen, confirmations } } as Fact;
    const { rows } = this.account.accept({
      type: 'apply_facts',
      inbox: [{ id: String((this.#serial += 1)), accountId, fact }],
      deposits: [...this.deposits.values()].filter(({ txid }) => txid === told.txid),
      withdrawals: [],
      addresses: this.addresses,
      depositIds: [dep()],
      checkout: this.store.read([told.addressId], [...this.deposits.values()], { eth: this.head, polygon: this.head }),
    });
    for (const { row } of rowsOf(rows, 'deposit')) this.deposits.set(row.id, row);
    this.store.write(rows);
    for (const { row } of rowsOf(rows, 'payment_transfer'))
      if (this.deposits.get(row.depositId)!.txid === told.txid) told.payment = row.paymentId;
  }

  /** The model: what the fact makes of the list of transfers, and which events follow from the list. */
  #predict(kind: 'seen' | 'matured' | 'orphaned', told: Told, movement: 'new' | 'same' | 'other'): void {
    const wrong = told.seen.chain !== 'eth' ? 'wrong_network' : told.seen.tokenContract !== USDC ? 'wrong_asset' : null;
    const say = (event: string) => this.#expected.push(`${event} ${told.txid}/${told.incarnation}`);
    if (kind === 'orphaned' || movement === 'other') {
      if (wrong === null || told.state === 'confirmed') say('payment_reversed');
      told.state = 'reversed';
      if (kind === 'orphaned') return;
    }
    if (kind === 'seen') {
      told.incarnation += 1;
      if (movement !== 'same') {
        told.amount = BigInt(told.seen.amount);
        const late = this.#closedAt !== null && told.seen.height > this.#closedAt;
        told.role = wrong ?? (late ? 'late' : 'counted');
        told.payment = this.#payee(told);
        if (wrong === null) say('payment_detected');
      }
      told.state = 'detected';
      return;
    }
    const before = this.#sums(told.payment);
    told.state = 'confirmed';
    if (wrong !== null) return void say('payment_unmatched');
    if (told.role === 'late') return void say('payment_late');
    const after = this.#sums(told.payment),
      due = this.#due;
    if (before.confirmed >= due) say('payment_unmatched');
    else if (after.confirmed >= due) {
      say('payment_confirmed');
      const { payment } = told;
      if (this.shape.addressMode === 'per_payer' && !this.#invoices.has(payment!))
        this.#invoices.set(payment!, { number: this.#invoices.size + 1, paid: String(after.confirmed) });
    } else if (after.seen < due) say('payment_underpaid');
    this.#closeByMoney();
  }

  get #due(): bigint {
    return this.shape.mode === 'donation'
      ? (this.shape.minAmount ?? 1n)
      : 100n - (100n * BigInt(this.shape.toleranceBps)) / 10_000n;
  }

  /** `further` where a payment of its own is opened. */
  #payee({ addressId, role }: Told): string | null {
    if (role.startsWith('wrong')) return null;
    const own = [...this.store.payments.values()].filter((one) => one.addressId === addressId);
    if (this.shape.mode === 'fixed') return own[0]!.id;
    if (this.shape.addressMode === 'shared') return 'further';
    const taking = own.find(({ id }) => {
      const { seen, late } = this.#sums(id);
      return (role === 'late' ? seen + late : seen) < this.#due;
    });
    return taking?.id ?? 'further';
  }

  #sums(payment: string | null): Sums {
    const sums = { seen: 0n, confirmed: 0n, late: 0n };
    if (payment === null || payment === 'further') return sums;
    for (const { payment: of, role, state, amount } of this.told) {
      if (of !== payment || state === 'reversed' || role.startsWith('wrong')) continue;
      if (role === 'late') sums.late += amount;
      else sums.seen += amount;
      if (role === 'counted' && state === 'confirmed') sums.confirmed += amount;
    }
    return sums;
  }

  get #raised(): bigint {
    return this.told
      .filter(({ role, state }) => role === 'counted' && state === 'confirmed')
      .reduce((sum, { amount }) => sum + amount, 0n);
  }

  #closeByMoney(): void {
    if (this.#closedAt !== null) return;
    const complete = [...this.store.payments.keys()].some((id) => this.#sums(id).confirmed >= this.#due),
      { thresholdAmount } = this.link;
    const reason =
      this.shape.mode === 'fixed'
        ? complete
          ? 'paid'
          : null
        : thresholdAmount !== null && this.#raised >= thresholdAmount
          ? 'threshold'
          : null;
    if (reason === null) return;
    this.#reason = reason;
    this.#closedAt = this.head;
    this.#expected.push('payment_link_closed');
  }

  /** Throws: when what was decided is not what the model says. */
  compare(): void {
    let count = 0,
      uses = 0;
    for (const payment of this.store.payments.values()) {
      const sums = this.#sums(payment.id);
      const status = this.#statusOf(payment, sums);
      same(`${payment.id} sums`, { ...sums, status }, pick(payment, 'seen', 'confirmed', 'late', 'status'));
      same(`${payment.id} entries`, sums.confirmed, this.store.confirmed(payment));
      count += Number(status === 'confirmed');
      uses += Number(['confirmed', 'detected', 'underpaid'].includes(status));
    }
    const { link } = this;
    const issued = [...this.store.invoices.values()];
    same(
      'invoices',
      Object.fromEntries(this.#invoices),
      Object.fromEntries(issued.map(({ paymentId, number, paid }) => [paymentId, { number, paid: String(paid) }])),
    );
    for (const { paymentId, paid, transfers } of issued) {
      const named = JSON.parse(transfers) as { amount: string }[];
      same(
        `${paymentId} is invoiced for what came`,
        paid,
        named.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
      );
    }
    same('link', [this.#raised, count, uses], [link.amountRaised, link.paymentCount, link.uses]);
    same('raised of entries', this.#raised, this.store.raised(link));
    same('closed', [this.#reason, this.#closedAt], [link.closedReason, link.closedAtHeight]);
    const said = this.#said();
    same('events', this.#expected.slice(-9), said.slice(-9));
    same('number of events', this.#expected.length, said.length);
  }

  #statusOf({ expiresAtMs }: PaymentRow, { seen, confirmed, late }: Sums): PaymentStatus {
    if (confirmed >= this.#due) return 'confirmed';
    if (seen >= this.#due) return 'detected';
    if (late !== 0n) return 'late';
    if (seen !== 0n) return 'underpaid';
    return this.#closedAt !== null || expiresAtMs <= this.account.nowMs ? 'expired' : 'awaiting_payment';
  }

  /** Of payments and links, in the order in which they were published, and each of one fact once. */
  #said(): string[] {
    for (const { event, id, data } of this.account.published()) {
      same(`${event} ${id} is published once`, false, this.#ids.has(id));
      this.#ids.add(id);
      if (event === 'payment_link_closed') this.#published.push(event);
      else if (event.startsWith('payment'))
        this.#published.push(`${event} ${data['txid'] as string}/${data['incarnation'] as number}`);
    }
    this.account.rows.length = 0;
    return this.#published;
  }
}

export type Op =
  | { kind: 'open' | 'close' | 'pause' }
  | { kind: 'clock' | 'threshold'; by: number }
  | { kind: 'pay'; at: number; amount: number; stray: 'wrong_asset' | 'wrong_network' | null; below: boolean }
  | Again;
interface Again {
  kind: 'confirm' | 'reorg' | 'return' | 'contradict';
  at: number;
  amount: number;
}

/** Steps of a story; most are about money. */
export function ops(check: typeof fc): fc.Arbitrary<Op> {
  const at = check.nat(5),
    amount = check.constantFrom(1, 20, 50, 60, 99, 100, 130);
  const again = check.record({ kind: check.constantFrom('confirm', 'reorg', 'return', 'contradict'), at, amount });
  return check.oneof(
    { weight: 2, arbitrary: check.constant({ kind: 'open' } as const) },
    { weight: 1, arbitrary: check.record({ kind: check.constantFrom('close', 'pause') }) },
    { weight: 1, arbitrary: check.record({ kind: check.constantFrom('clock', 'threshold'), by: check.nat(9) }) },
    {
      weight: 5,
      arbitrary: check.record({
        kind: check.constant('pay'),
        at,
        amount,
        stray: check.oneof(
          { weight: 6, arbitrary: check.constant(null) },
          { weight: 1, arbitrary: check.constantFrom('wrong_asset', 'wrong_network') },
        ),
        below: check.boolean(),
      }),
    },
    { weight: 9, arbitrary: again },
  ) as fc.Arbitrary<Op>;
}

const pick = <Row, Key extends keyof Row>(row: Row, ...keys: Key[]): Pick<Row, Key> =>
  Object.fromEntries(keys.map((key) => [key, row[key]])) as Pick<Row, Key>;

const text = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one));

function same(what: string, expected: unknown, found: unknown): void {
  if (text(expected) !== text(found))
    throw new Error(`${what}: the model says ${text(expected)}, found ${text(found)}`);
}
