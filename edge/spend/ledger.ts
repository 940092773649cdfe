/**
 * The count of what was spent, written before a signature is made: a crash leaves a spend counted and unsigned, never
 * signed and uncounted. What is counted and how much may be: caps.ts. This is one replica's own
 * count; where EDGE_SPEND_LEDGER is set all replicas count in one beside it (shared-spend.ts).
 */
import type { Refusal } from '../../protocol/errors.ts';
import { counterNotFilled, equalPayment, type Settled, type Word } from '../signing/payments.ts';
import { refuseToSign } from '../signing/signers/signer.ts';
import type { Chain } from '../../protocol/slugs.ts';
import {
  capOf,
  overCap,
  overTokenCap,
  tokenCapOf,
  tokenSubject,
  tokenUnit,
  type Spend,
  type SpendCaps,
  type SpendPurpose,
} from './caps.ts';
import type { SpendClock } from './clock.ts';
import { keptAmount, keptList } from '../storage/record-forms.ts';
import type { Storage } from '../storage/storage.ts';

/** A signed payment that may still land. */
export interface OpenPayment {
  readonly transactionId: string;
  readonly chain: Chain;
  readonly sender: string | null;
  readonly told: string;
  readonly countedAtMs: number;
}

/** An instruction that nobody may sign any more. */
export type Retired = Pick<Spend, 'subject' | 'chain'> & Required<Pick<Spend, 'transactionId'>>;

/** The only exclusive key of a retired instruction: no payload has it, so that no version is counted. */
export const RETIRED_KEYS: readonly string[] = ['retired'];

/** Instant of the newest entry, 0 in an empty ledger. */
export function newestSpendMs(storage: Storage): number {
  return storage.one<{ newest: number | null }>('select max(counted_at_ms) as newest from spend')?.newest ?? 0;
}

/**
 * How a word changes what was reported before (the column `told`). `doubted`: it was called failed and signed again
 * since, or its counter is said to be used up; it blocks equal payments, and no higher counter.
 */
export const REPORTED: Readonly<Record<Word, string>> = {
  confirmed: `told = 'confirmed' where told = 'nothing'`,
  failed: `told = 'failed' where told <> 'failed'`,
  reverted: `told = 'doubted' where told in ('nothing', 'confirmed')`,
  landed: `told = 'doubted' where told = 'failed'`,
};

/** Earlier transactions that a refusal names. */
const EARLIER_MAX = 16;

/**
 * When a version can no longer land, by the wall clock and by the ledger's clock, which nobody can set; null: it never
 * expires.
 */
function deathOf(
  { deadAtMs = null, wallMs = 0 }: Pick<Spend, 'deadAtMs' | 'wallMs'>,
  nowMs: number,
): { wallMs: number | null; ledgerMs: number | null } {
  return deadAtMs === null
    ? { wallMs: null, ledgerMs: null }
    : { wallMs: deadAtMs, ledgerMs: nowMs + Math.max(0, deadAtMs - wallMs) };
}

/**
 * The versions that were counted, with this one; null where one of them is unknown, and for a spend without a version.
 */
function versionsWith(known: { readonly versions: string | null } | null, version: string | undefined): string | null {
  if (version === undefined || (known !== null && known.versions === null)) return null;
  const before = known === null ? [] : keptList(known.versions!, 'spend.versions');
  return JSON.stringify(before.includes(version) ? before : [...before, version]);
}

export class SpendLedger {
  readonly #storage: Storage;
  readonly #caps: SpendCaps;
  readonly #clock: SpendClock;

  constructor(storage: Storage, caps: SpendCaps, clock: SpendClock) {
    this.#storage = storage;
    this.#caps = caps;
    this.#clock = clock;
  }

  /**
   * Counts a spend; durable when it returns.
   * Refuses: AMOUNT_CAP_EXCEEDED; SIGNED_BATCH_REJECTED for another exclusive key than before, or another instruction
   * under the same id; CONFLICT for a payment that was signed and may land, or a counter that is to be filled first.
   * Then nothing is counted.
   */
  count(spend: Spend, { payments = true }: { readonly payments?: boolean } = {}): Refusal | null {
    const {
      subject,
      transactionId = subject,
      chain,
      purpose,
      amount,
      exclusive,
      version,
      sender,
      payment = null,
      counter = null,
    } = spend;
    return this.#storage.transaction(() => {
      // Read inside the transaction: replicas may share the file, and another one may have counted just before.
      const nowMs = Math.max(this.#clock.nowMs(), newestSpendMs(this.#storage));
      this.#adopt(spend);
      const [id] = this.#storage.all<{ subject: string }>(
        'select subject from spend where transaction_id = ? and subject <> ?',
        transactionId,
        subject,
      );
      if (id !== undefined) return refuseToSign('another_instruction_under_this_id');
      if (payments && this.#paysAnother(spend)) return refuseToSign('payload_of_another_payment');
      const known = this.#storage.one<{ amount: string; exclusive: string | null; versions: string | null }>(
        'select amount, exclusive, versions from spend where subject = ?',
        subject,
      );
      const before = known?.exclusive == null ? null : keptList(known.exclusive, 'spend.exclusive');
      if (before !== null && exclusive !== undefined && !before.some((key) => exclusive.includes(key)))
        return refuseToSign('signed_under_another_key');
      // Every version shares what is kept, so that any two of them exclude each other.
      const kept =
        exclusive === undefined
          ? before
          : before === null
            ? exclusive
            : before.filter((key) => exclusive.includes(key));
      // Counted long ago and signed only now: it is spent now. A crash in between must not carry it out of the window.
      const counted = known === null ? 0n : keptAmount(known.amount, 'spend.amount'),
        dearest = counted > amount ? counted : amount;
      const spent = this.#spentWithin(spend, nowMs),
        cap = capOf(this.#caps, spend);
      if (cap !== null && spent + dearest > cap) return overCap(spend, this.#caps, spent);
      const token = this.#tokenRow(spend, nowMs);
      if (token?.refusal != null) return token.refusal;
      const blocked = payments ? this.#blocked(spend, nowMs) : null;
      if (blocked !== null) return blocked;
      const { wallMs: deadWallMs, ledgerMs: deadLedgerMs } = deathOf(spend, nowMs);
      this.#storage.run(
        `insert into spend (subject, chain, purpose, amount, counted_at_ms, exclusive, versions, transaction_id, sender, payment, counter, dead_wall_ms, dead_ledger_ms)
          values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, cast(? as integer), ?, ?)
        on conflict (subject) do update set amount = excluded.amount, counted_at_ms = excluded.counted_at_ms, exclusive = excluded.exclusive, versions = excluded.versions, sender = excluded.sender,
          payment = excluded.payment, counter = excluded.counter, told = case when told = 'failed' then 'doubted' else told end, settled = null,
          dead_wall_ms = max(dead_wall_ms, excluded.dead_wall_ms), dead_ledger_ms = max(dead_ledger_ms, excluded.dead_ledger_ms)`,
        subject,
        chain,
        purpose,
        dearest.toString(),
        nowMs,
        kept === null ? null : JSON.stringify(kept),
        versionsWith(known, version),
        transactionId,
        sender ?? null,
        payment,
        counter?.toString() ?? null,
        deadWallMs,
        deadLedgerMs,
      );
      if (version !== undefined)
        this.#storage.run('insert into spend_versions values (?, ?) on conflict do nothing', version, subject);
      token?.write();
      return null;
    });
  }

  /**
   * The row that counts the token of a spend, once at the most that any version moves; null where it moves none. It is
   * a sum and nothing else: it has no id, payment or counter, and so blocks no other payment.
   */
  #tokenRow(
    { subject, chain, purpose, token }: Spend,
    nowMs: number,
  ): { refusal: Refusal | null; write: () => void } | null {
    if (token == null) return null;
    const row = tokenSubject(subject),
      unit = tokenUnit(chain, token),
      cap = tokenCapOf(this.#caps, chain, token);
    const known = keptAmount(
      this.#storage.one<{ amount: string }>('select amount from spend where subject = ?', row)?.amount ?? '0',
      'spend.amount',
    );
    const most = known > token.amount ? known : token.amount,
      spent = this.#sumWithin(unit, purpose, row, nowMs);
    return {
      refusal: cap !== null && spent + most > cap ? overTokenCap({ chain }, token, this.#caps, spent) : null,
      write: () =>
        this.#storage.run(
          `insert into spend (subject, chain, purpose, amount, counted_at_ms) values (?, ?, ?, ?, ?)
        on conflict (subject) do update set amount = excluded.amount, counted_at_ms = excluded.counted_at_ms`,
          row,
          unit,
          purpose,
          most.toString(),
          nowMs,
        ),
    };
  }

  /**
   * What another replica may have signed: it blocks an equal payment, and counts nothing here. `exclusive` null: under
   * a key that is not known yet.
   */
  noteElsewhere(spend: Omit<Spend, 'amount' | 'exclusive'> & { readonly exclusive: readonly string[] | null }): void {
    const {
      subject,
      transactionId = subject,
      chain,
      purpose,
      exclusive,
      sender,
      payment = null,
      counter = null,
    } = spend;
    this.#storage.transaction(() => {
      const nowMs = Math.max(this.#clock.nowMs(), newestSpendMs(this.#storage));
      const { wallMs: deadWallMs, ledgerMs: deadLedgerMs } = deathOf(spend, nowMs);
      this.#storage.run(
        `insert into spend (subject, chain, purpose, amount, counted_at_ms, exclusive, transaction_id, sender, payment, counter, dead_wall_ms, dead_ledger_ms)
        values (?, ?, ?, '0', ?, ?, ?, ?, ?, cast(? as integer), ?, ?)
        on conflict (subject) do update set dead_wall_ms = max(dead_wall_ms, excluded.dead_wall_ms), dead_ledger_ms = max(dead_ledger_ms, excluded.dead_ledger_ms),
          exclusive = coalesce(exclusive, excluded.exclusive), counter = coalesce(counter, excluded.counter)
        on conflict do nothing`,
        subject,
        chain,
        purpose,
        nowMs,
        exclusive === null ? null : JSON.stringify(exclusive),
        transactionId,
        sender ?? null,
        payment,
        counter?.toString() ?? null,
        deadWallMs,
        deadLedgerMs,
      );
    });
  }

  /** As `SharedSpend.retire`; durable when it returns. */
  retire({ subject, transactionId, chain }: Retired): boolean {
    return this.#storage.transaction(() => {
      const nowMs = Math.max(this.#clock.nowMs(), newestSpendMs(this.#storage)),
        keys = JSON.stringify(RETIRED_KEYS);
      this.#storage.run(
        `insert into spend (subject, chain, purpose, amount, counted_at_ms, exclusive, transaction_id)
        values (?, ?, 'withdrawal', '0', ?, ?, ?) on conflict do nothing`,
        subject,
        chain,
        nowMs,
        keys,
        transactionId,
      );
      return (
        this.#storage.one(
          'select 1 from spend where subject = ? and transaction_id = ? and exclusive = ?',
          subject,
          transactionId,
          keys,
        ) !== null
      );
    });
  }

  /**
   * Records what an application is about to receive, or received, of signed transactions; durable when it returns.
   * `failed` is never taken back.
   */
  note(transactionIds: readonly string[], word: Word): void {
    const change = REPORTED[word];
    if (transactionIds.length > 0) {
      this.#storage.run(
        `update spend set ${change} and transaction_id in (select value from json_each(?))`,
        JSON.stringify(transactionIds),
      );
    }
  }

  /** Whether this replica counted it, or another one may have signed it. */
  knows(transactionId: string): boolean {
    return this.#storage.one('select 1 from spend where transaction_id = ?', transactionId) !== null;
  }

  /** What was last reported of a transaction; `nothing` for an unknown one. */
  reportedOf(transactionId: string): string {
    return (
      this.#storage.one<{ told: string }>('select told from spend where transaction_id = ?', transactionId)?.told ??
      'nothing'
    );
  }

  /**
   * SHA-256 of each payload that was counted for a transaction, by whatever replica counts here; null where not all of
   * them are known.
   */
  versionsOf(transactionId: string): readonly string[] | null {
    const { versions } = this.#storage.one<{ versions: string | null }>(
      'select versions from spend where transaction_id = ?',
      transactionId,
    ) ?? { versions: null };
    return versions === null ? null : keptList(versions, 'spend.versions');
  }

  /**
   * They block nothing any more; durable when it returns. `versions`: only those of which no other version was counted.
   */
  settle(transactionIds: readonly string[], how: Settled, versions: readonly string[] | null = null): void {
    const only = versions === null ? null : JSON.stringify(versions);
    this.#storage.run(
      `update spend set settled = ? where settled is null and transaction_id in (select value from json_each(?))
        and (? is null or versions is null
          or not exists (select 1 from json_each(versions) v where v.value not in (select value from json_each(?))))`,
      how,
      JSON.stringify(transactionIds),
      only,
      only ?? '[]',
    );
  }

  /** Signed payments that may still land, oldest first. */
  open(limit: number): OpenPayment[] {
    return this.#storage.all<OpenPayment>(
      `select transaction_id as transactionId, chain, sender, told, counted_at_ms as countedAtMs from spend
      where settled is null and told <> 'confirmed' and payment is not null and not coalesce(dead_ledger_ms < ?, 0) order by counted_at_ms, subject limit ?`,
      this.#clock.nowMs(),
      limit,
    );
  }

  /**
   * Whether a payload was counted for another payment, by whatever replica counts here. The same bytes of another
   * sender are another transaction.
   */
  #paysAnother({ version, chain, sender, payment = null }: Spend): boolean {
    if (version === undefined) return false;
    return (
      this.#storage.one(
        `
      select 1 from spend_versions v join spend s on s.subject = v.subject where v.version = ? and s.chain = ? and s.sender is ? and s.payment is not ?`,
        version,
        chain,
        sender ?? null,
        payment,
      ) !== null
    );
  }

  /** Found F3: blocked by an equal payment that may land, or by a lower counter that is to be used again. */
  #blocked(
    { subject, chain, sender, payment = null, counter = null, exclusive = [], wallMs = 0 }: Spend,
    nowMs: number,
  ): Refusal | null {
    const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
    const equal =
      payment === null
        ? []
        : ids(
            this.#storage.all<{ id: string }>(
              `select transaction_id as id from spend s where payment = ? and subject <> ?
        and settled is null and told <> 'confirmed' and not coalesce(dead_wall_ms < ? and dead_ledger_ms < ?, 0)
        and not exists (select 1 from json_each(s.exclusive) k join json_each(?) w on k.value = w.value) order by counted_at_ms limit ${EARLIER_MAX}`,
              payment,
              subject,
              wallMs,
              nowMs,
              JSON.stringify(exclusive),
            ),
          );
    if (equal.length > 0) return equalPayment(equal);
    if (counter === null || sender === undefined) return null;
    const unfilled = ids(
      this.#storage.all<{ id: string }>(
        `select transaction_id as id from spend s where chain = ? and sender = ? and counter < cast(? as integer)
        and subject <> ? and settled is null and told = 'failed' and not coalesce(dead_wall_ms < ? and dead_ledger_ms < ?, 0)
        and not exists (select 1 from spend f where f.chain = s.chain and f.sender = s.sender and f.counter = s.counter and f.told <> 'failed')
        order by counter limit ${EARLIER_MAX}`,
        chain,
        sender,
        counter.toString(),
        subject,
        wallMs,
        nowMs,
      ),
    );
    return unfilled.length > 0 ? counterNotFilled(unfilled) : null;
  }

  /** Takes over the row of an older edge: named by the id alone, its keys without chain and sender. */
  #adopt({ subject, transactionId = subject, chain, sender }: Spend): void {
    if (subject === transactionId) return;
    const row = this.#storage.one<{ exclusive: string | null }>(
      'select exclusive from spend where subject = ?',
      transactionId,
    );
    if (row === null) return;
    const keys =
      row.exclusive === null
        ? null
        : JSON.stringify(keptList(row.exclusive, 'spend.exclusive').map((key) => `${chain}|${sender ?? ''}|${key}`));
    this.#storage.run('update spend set subject = ?, exclusive = ? where subject = ?', subject, keys, transactionId);
  }

  /** Counted within the window that ends now, smallest native unit. */
  spent(chain: Chain, purpose: SpendPurpose): bigint {
    return this.#spentWithin({ chain, purpose, subject: '' }, this.#clock.nowMs());
  }

  #spentWithin({ chain, purpose, subject }: Pick<Spend, 'chain' | 'purpose' | 'subject'>, nowMs: number): bigint {
    return this.#sumWithin(chain, purpose, subject, nowMs);
  }

  #sumWithin(unit: string, purpose: SpendPurpose, subject: string, nowMs: number): bigint {
    const rows = this.#storage.all<{ amount: string }>(
      'select amount from spend where chain = ? and purpose = ? and counted_at_ms > ? and subject <> ?',
      unit,
      purpose,
      nowMs - this.#caps.spendWindowMs,
      subject,
    );
    return rows.reduce((sum, { amount }) => sum + keptAmount(amount, 'spend.amount'), 0n);
  }
}

/** What of each cap above zero is spent within the window, as this replica counted, smallest native unit. */
export function spentOfCaps(
  spendCaps: ReadonlyMap<Chain, bigint>,
  ledger: Pick<SpendLedger, 'spent'>,
): { readonly chain: Chain; readonly cap: bigint; readonly spent: bigint }[] {
  return [...spendCaps].flatMap(([chain, cap]) =>
    cap > 0n ? [{ chain, cap, spent: ledger.spent(chain, 'cloud') }] : [],
  );
}
