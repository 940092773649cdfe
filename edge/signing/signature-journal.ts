/**
 * The journal of payloads that this replica signs: written before a signature exists, never removed. From it a signer
 * knows what was signed for an instruction, and what a nonce, sequence or coin was used for.
 */
import type { ReplayKey, Signed } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { keptAmount } from '../storage/record-forms.ts';
import type { Storage } from '../storage/storage.ts';
import { replayKeyTexts } from './replay-keys.ts';
import type { RecordedInstruction } from './stored-text.ts';

export interface Signature {
  readonly transactionId: string;
  readonly payload: string;
  readonly signed: Signed | null;
  /** By this edge's clock. */
  readonly signedAtMs: number;
  /** `taken`: the cloud has the bytes · `refused`: it refused them for good · `open`: neither is known. */
  readonly outcome: 'open' | 'taken' | 'refused';
  readonly outcomeCode: string | null;
}

interface SignatureRow {
  transaction_id: string;
  payload: string;
  chain: Chain;
  signed_payload: string | null;
  txid: string | null;
  signed_at_ms: number;
  outcome: Signature['outcome'];
  outcome_code: string | null;
}

export class SignatureJournal {
  readonly #storage: Storage;
  readonly #nowMs: () => number;

  constructor(storage: Storage, nowMs: () => number) {
    this.#storage = storage;
    this.#nowMs = nowMs;
  }

  /** Writes a payload, with what it uses up. False when it is there already. Within a transaction. */
  write({ instruction, unsigned }: RecordedInstruction): boolean {
    const keys = replayKeyTexts(unsigned.replayKey);
    const added = this.#storage.run(
      `insert into signatures (transaction_id, payload, chain, signed_at_ms, amount, sender, uses) values (?, ?, ?, ?, ?, ?, ?)
      on conflict (transaction_id, payload) do nothing`,
      instruction.id,
      unsigned.payload,
      unsigned.chain,
      this.#nowMs(),
      unsigned.amount.toString(),
      unsigned.from,
      JSON.stringify(keys),
    );
    if (added === 0) return false;
    for (const key of keys) {
      this.#storage.run(
        'insert into replay_keys (chain, sender, replay_key, transaction_id, payload) values (?, ?, ?, ?, ?)',
        unsigned.chain,
        unsigned.from,
        key,
        instruction.id,
        unsigned.payload,
      );
    }
    return true;
  }

  /** To be called within a transaction that also puts the bytes into the outbox. */
  noteSigned(transactionId: string, payload: string, signed: Signed): void {
    this.#storage.run(
      'update signatures set signed_payload = ?, txid = ? where transaction_id = ? and payload = ?',
      signed.payload,
      signed.txid,
      transactionId,
      payload,
    );
  }

  noteOutcome(transactionId: string, txid: string, outcome: 'taken' | 'refused', code: string | null): void {
    this.#storage.run(
      'update signatures set outcome = ?, outcome_code = ? where transaction_id = ? and txid = ?',
      outcome,
      code,
      transactionId,
      txid,
    );
  }

  /**
   * The transactions that were signed under this txid, in upper or lower case; none where this replica signed none. Two
   * where the bytes of a failed one were signed again for its repeat (V39).
   */
  transactionsOf(txid: string): string[] {
    return this.#storage
      .all<{ id: string }>(
        'select distinct transaction_id as id from signatures where txid in (?, ?, ?)',
        txid,
        txid.toLowerCase(),
        txid.toUpperCase(),
      )
      .map(({ id }) => id);
  }

  /** Payloads signed for a transaction, oldest first. */
  of(transactionId: string): Signature[] {
    const rows = this.#storage.all<SignatureRow>(
      'select * from signatures where transaction_id = ? order by rowid',
      transactionId,
    );
    return rows.map(signatureOf);
  }

  /** Payloads of this sender, of any transaction, that use up a part of a key, oldest first. */
  under(chain: Chain, sender: string, key: ReplayKey): Signature[] {
    const rows = this.#storage.all<SignatureRow>(
      `select s.* from signatures s where (s.transaction_id, s.payload) in (
        select k.transaction_id, k.payload from json_each(?) wanted cross join replay_keys k on k.replay_key = wanted.value and k.chain = ? and k.sender = ?)
      order by s.rowid`,
      JSON.stringify(replayKeyTexts(key)),
      chain,
      sender,
    );
    return rows.map(signatureOf);
  }

  /** Highest counter that this sender signed with; null where it has none yet, or the chain has no counter. */
  highestCounter(chain: Chain, sender: string, key: ReplayKey): bigint | null {
    if (key.kind !== 'nonce' && key.kind !== 'sequence') return null;
    // Exactly the expression of the index, so that the cost does not grow with what a sender signed. The kind is one of
    // two constants, no text from outside.
    const counter = `cast(substr(replay_key, ${key.kind.length + 2}) as integer)`;
    // Text on the way out: a Stellar sequence is beyond what a JavaScript number holds.
    const row = this.#storage.one<{ highest: string }>(
      `select cast(${counter} as text) as highest from replay_keys indexed by replay_keys_${key.kind}
      where chain = ? and sender = ? and replay_key glob '${key.kind}:*' order by ${counter} desc limit 1`,
      chain,
      sender,
    );
    return row === null ? null : keptAmount(row.highest, 'replay_keys.replay_key');
  }

  /**
   * The payload of this txid and what it pays, smallest unit: null where an older edge did not record it. Null for
   * a txid that was not signed here for the transaction.
   */
  paidBy(transactionId: string, txid: string): { readonly payload: string; readonly amount: bigint | null } | null {
    const signed = this.#storage.one<{ amount: string | null; payload: string }>(
      'select amount, payload from signatures where transaction_id = ? and txid = ?',
      transactionId,
      txid,
    );
    if (signed === null) return null;
    return {
      payload: signed.payload,
      amount: signed.amount === null ? null : keptAmount(signed.amount, 'signatures.amount'),
    };
  }
}

function signatureOf(row: SignatureRow): Signature {
  const signed =
    row.signed_payload === null || row.txid === null
      ? null
      : { chain: row.chain, payload: row.signed_payload, txid: row.txid };
  return {
    transactionId: row.transaction_id,
    payload: row.payload,
    signed,
    signedAtMs: row.signed_at_ms,
    outcome: row.outcome,
    outcomeCode: row.outcome_code,
  };
}
