/**
 * What was spent, in the smallest native unit, over a rolling window: counted durably before a signature is made, so a
 * crash leaves it counted and unsigned, never signed and uncounted. Decisions 3 and 6, reliability 3.9-5.
 *
 *   cloud       what the cloud can start (sweeps and their gas): EDGE_SPEND_CAP_<CHAIN>, default zero
 *   withdrawal  what a holder of a local key told: EDGE_WITHDRAWAL_CAP_<CHAIN>, unbounded when unset
 *
 * A native transfer spends amount + highest fee, a token transfer its highest fee; of a part of the fee that stands in no
 * byte at least what the network is known to take. This is one replica's own count; where
 * EDGE_SPEND_LEDGER is set all replicas count in one beside it (shared-spend.ts).
 */
import type { Unsigned } from '../chains/chain.ts';
import { refuse, type Refusal } from '../protocol/errors.ts';
import { refuseToSign, type Signer } from './signers/signer.ts';
import type { Chain } from '../protocol/slugs.ts';
import type { SpendClock } from './spend-clock.ts';
import type { Storage } from './storage/storage.ts';

export type SpendPurpose = 'cloud' | 'withdrawal';

export interface Spend {
  /** What the spend is for; versions of one transaction exclude each other and are counted once, at the dearest. */
  readonly subject: string;
  readonly chain: Chain;
  readonly purpose: SpendPurpose;
  readonly amount: bigint;
  /** Keys of which two signatures for the subject must share one; see `exclusiveKeys`. */
  readonly exclusive?: readonly string[];
}

export interface SpendCaps {
  readonly spendCaps: ReadonlyMap<Chain, bigint>;
  readonly withdrawalCaps: ReadonlyMap<Chain, bigint>;
  readonly spendWindowMs: number;
}

/**
 * Smallest native unit that a payload can cost. `check` has held amount and fee against the bytes; of what stands in no
 * byte the signer knows what it costs at least.
 */
export function spendOf(unsigned: Unsigned, { feeFloor }: Pick<Signer, 'feeFloor'>): bigint {
  const { feeMax, tokenContract, kind, amount } = unsigned, least = feeFloor?.(unsigned) ?? 0n;
  return (feeMax < least ? least : feeMax) + (tokenContract === null && kind === 'payment' ? amount : 0n);
}

/** Null: unbounded. */
export function capOf({ spendCaps, withdrawalCaps }: SpendCaps, { chain, purpose }: Pick<Spend, 'chain' | 'purpose'>): bigint | null {
  return purpose === 'cloud' ? spendCaps.get(chain) ?? 0n : withdrawalCaps.get(chain) ?? null;
}

/** AMOUNT_CAP_EXCEEDED, with what was spent within the window. */
export function overCap(spend: Spend, caps: SpendCaps, spent: bigint): Refusal {
  return refuse('AMOUNT_CAP_EXCEEDED', {
    chain: spend.chain, cap: String(capOf(caps, spend)), spent: spent.toString(), amount: spend.amount.toString(),
    setting: `${spend.purpose === 'cloud' ? 'EDGE_SPEND_CAP' : 'EDGE_WITHDRAWAL_CAP'}_${spend.chain.toUpperCase()}`,
    windowSeconds: caps.spendWindowMs / 1_000,
  });
}

/** Instant of the newest entry, 0 in an empty ledger. */
export function newestSpendMs(storage: Storage): number {
  return storage.one<{ newest: number | null }>('select max(counted_at_ms) as newest from spend')?.newest ?? 0;
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
   * Refuses: AMOUNT_CAP_EXCEEDED, SIGNED_BATCH_REJECTED for another exclusive key than before; then nothing is counted.
   */
  count(spend: Spend): Refusal | null {
    const cap = capOf(this.#caps, spend);
    const { subject, chain, purpose, amount, exclusive } = spend;
    return this.#storage.transaction(() => {
      // Read inside the transaction: replicas may share the file, and another one may have counted just before.
      const nowMs = Math.max(this.#clock.nowMs(), newestSpendMs(this.#storage));
      const known = this.#storage.one<{ amount: string; exclusive: string | null }>('select amount, exclusive from spend where subject = ?', subject);
      const before = known?.exclusive == null ? null : JSON.parse(known.exclusive) as string[];
      if (before !== null && exclusive !== undefined && !before.some((key) => exclusive.includes(key))) return refuseToSign('signed_under_another_key');
      // Every version shares what is kept, so that any two of them exclude each other.
      const kept = exclusive === undefined ? before : before === null ? exclusive : before.filter((key) => exclusive.includes(key));
      // What was counted long ago and is signed only now is spent now: a crash in between must not carry it out of its window.
      const dearest = known !== null && BigInt(known.amount) > amount ? BigInt(known.amount) : amount;
      const spent = this.#spentWithin(spend, nowMs);
      if (cap !== null && spent + dearest > cap) return overCap(spend, this.#caps, spent);
      this.#storage.run(`insert into spend (subject, chain, purpose, amount, counted_at_ms, exclusive) values (?, ?, ?, ?, ?, ?)
        on conflict (subject) do update set amount = excluded.amount, counted_at_ms = excluded.counted_at_ms, exclusive = excluded.exclusive`,
        subject, chain, purpose, dearest.toString(), nowMs, kept === null ? null : JSON.stringify(kept));
      return null;
    });
  }

  /** Counted within the window that ends now, smallest native unit. */
  spent(chain: Chain, purpose: SpendPurpose): bigint {
    return this.#spentWithin({ chain, purpose, subject: '' }, this.#clock.nowMs());
  }

  #spentWithin({ chain, purpose, subject }: Pick<Spend, 'chain' | 'purpose' | 'subject'>, nowMs: number): bigint {
    const rows = this.#storage.all<{ amount: string }>(
      'select amount from spend where chain = ? and purpose = ? and counted_at_ms > ? and subject <> ?',
      chain, purpose, nowMs - this.#caps.spendWindowMs, subject);
    return rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  }
}
