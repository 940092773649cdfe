/**
 * What this edge's own callers asked for: the instructions, their newest payloads, and which of them were broadcast.
 * All of it survives the process, and without a recorded instruction nothing is signed. Parts with a file of their own:
 * signature-journal.ts, request-keys.ts, send-all-amounts.ts.
 */
import type { ReplayKey, Signed, Unsigned } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { sha256 } from './instruction-record.ts';
import { excludeEachOther, excludes, keepsReplayKey } from './replay-keys.ts';
import { RequestKeys, type KeyHolder } from './request-keys.ts';
import { SendAllAmounts } from './send-all-amounts.ts';
import { SignatureJournal, type Signature } from './signature-journal.ts';
import type { Instruction } from './signers/signer.ts';
import { keptList } from '../storage/record-forms.ts';
import type { Storage } from '../storage/storage.ts';
import { bindsAtBroadcast, fromJson, toJson, type RecordedInstruction, type RecordedUnsigned } from './stored-text.ts';

export type { RecordedInstruction, RecordedUnsigned } from './stored-text.ts';

/** An instruction in the very texts that were recorded. */
export interface StoredInstruction {
  readonly transactionId: string;
  readonly instruction: string;
  readonly unsigned: string;
  /** When a holder of a local key last built, repriced or broadcast it. */
  readonly askedAtMs: number;
  /** When a holder of a local key last broadcast any version, and SHA-256 of that version's text; null: nobody did. */
  readonly broadcastAtMs: number | null;
  readonly broadcastUnsigned: string | null;
}

interface KnownRow {
  readonly instruction: string;
  readonly unsigned: string;
  readonly broadcast_at_ms: number | null;
  readonly built_here: number;
  readonly handed_out: number;
}

export class Instructions {
  readonly #storage: Storage;
  readonly #nowMs: () => number;
  readonly #keys: RequestKeys;
  readonly #signatures: SignatureJournal;
  readonly #amounts: SendAllAmounts;
  /** Withdrawn, but not written yet, since the disk was full. */
  readonly #withdrawn = new Set<string>();

  constructor(storage: Storage, nowMs: () => number) {
    this.#storage = storage;
    this.#nowMs = nowMs;
    this.#signatures = new SignatureJournal(storage, nowMs);
    this.#amounts = new SendAllAmounts(storage);
    this.#keys = new RequestKeys(storage, nowMs, (id) => this.get(id)?.instruction.request);
  }

  get(transactionId: string): RecordedInstruction | null {
    const row = this.#storage.one<{ instruction: string; unsigned: string }>(
      'select instruction, unsigned from instructions where transaction_id = ?',
      transactionId,
    );
    if (row === null) return null;
    const { amounts: _, ...unsigned } = fromJson<RecordedUnsigned>(row.unsigned);
    return { instruction: fromJson<Instruction>(row.instruction), unsigned };
  }

  /**
   * Records an instruction with the payload that was checked against it; durable when it returns. False when another
   * instruction has that id, or when the replay key changes after a broadcast: any replica may have signed what was
   * broadcast, and a payload that does not exclude it would be a second payment. What nobody broadcast is signed
   * nowhere. One that took over the coins of a build that was given up keeps them, broadcast or not (superseding.ts).
   */
  record({ instruction, unsigned }: RecordedInstruction): boolean {
    const text = toJson(instruction);
    return this.#storage.transaction(() => {
      const known = this.#known(instruction.id);
      if (known !== null && known.instruction !== text) return false;
      const mayChange = known?.isBroadcast !== true && !tookCoinsOver(instruction, unsigned);
      if (known !== null && !mayChange && !excludes(unsigned, known.unsigned)) return false;
      const mayGiveUp = (holderId: string) => this.#known(holderId)?.isBroadcast === false;
      if (known === null && !this.#keys.mayKeep(instruction, mayGiveUp)) return false;
      // A version under another counter than the bound one is no longer bound.
      const isBound = known?.unsigned.bound === true && keepsReplayKey(unsigned.replayKey, known.unsigned.replayKey);
      if (known?.isHandedOut === true && !isBound) return false;
      const { bound: _, amounts: __, ...own } = unsigned,
        amounts = this.#amounts.of(instruction.id);
      const before = instruction.amount !== 'all' ? null : known === null ? [] : amounts,
        version = before === null ? own : { ...own, amounts: before };
      this.#storage.run(
        `insert into instructions (transaction_id, instruction, unsigned, recorded_at_ms, built_here) values (?, ?, ?, ?, 1)
        on conflict (transaction_id) do update set unsigned = excluded.unsigned, recorded_at_ms = max(recorded_at_ms + 1, excluded.recorded_at_ms), shared = 0`,
        instruction.id,
        text,
        toJson(isBound ? { ...version, bound: true } : version),
        this.#nowMs(),
      );
      this.#amounts.note(instruction.id, version, known === null);
      this.#keys.hold(instruction);
      return true;
    });
  }

  /**
   * A holder of a local key broadcasts the newest version here: from now on the cloud may ask for its signature, and
   * the other replicas receive it.
   */
  noteBroadcast(transactionId: string): void {
    const row = this.#storage.one<{ unsigned: string; at: number }>(
      'select unsigned, recorded_at_ms as at from instructions where transaction_id = ?',
      transactionId,
    );
    if (row === null) return;
    // later than the version before, even where the clock was set back
    const atMs = Math.max(row.at + 1, this.#nowMs());
    this.#storage.run(
      'update instructions set recorded_at_ms = ?, broadcast_at_ms = ?, broadcast_unsigned = ?, shared = 0 where transaction_id = ?',
      atMs,
      atMs,
      sha256(row.unsigned),
      transactionId,
    );
    this.#withdrawn.delete(transactionId);
  }

  /**
   * Its caller was refused: no frame has it signed here until it is broadcast again, even if an older record arrives.
   * Other replicas may still sign it. Throws: StorageFailed; the withdrawal then holds until the process ends.
   */
  withdraw(transactionId: string): void {
    this.#withdrawn.add(transactionId);
    this.#storage.run('update instructions set broadcast_unsigned = null where transaction_id = ?', transactionId);
    this.#withdrawn.delete(transactionId);
  }

  /**
   * Whether its counter is still to be chosen: `own` where this replica may choose it, `elsewhere` where only the
   * replica that built it may. Null: it is chosen, or there is none. Without a shared ledger a version that another
   * replica may have is final; with one, and nothing signed here, the ledger refuses a second counter.
   */
  counterToBind(transactionId: string, sharesLedger: boolean): 'own' | 'elsewhere' | null {
    const known = this.#known(transactionId);
    if (known === null || !bindsAtBroadcast(known.instruction) || this.signaturesOf(transactionId).length > 0)
      return null;
    if (this.supersededBy(transactionId) !== null) return null;
    if (sharesLedger) return 'own';
    if (known.isHandedOut) return null;
    if (known.isBuiltHere) return 'own';
    return known.unsigned.bound === true ? null : 'elsewhere';
  }

  /**
   * Stores the version whose counter the cloud bound, for a holder of a local key that broadcasts it. No other replica
   * receives it before `handOut`. False when it may not be bound here.
   */
  bind(transactionId: string, unsigned: Unsigned, sharesLedger: boolean): boolean {
    return this.#storage.transaction(() => {
      if (this.counterToBind(transactionId, sharesLedger) !== 'own') return false;
      const amounts = this.#amounts.of(transactionId),
        version = amounts === null ? unsigned : { ...unsigned, amounts };
      const text = toJson({ ...version, bound: true }),
        row = this.#storage.one<{ at: number }>(
          'select recorded_at_ms as at from instructions where transaction_id = ?',
          transactionId,
        );
      const atMs = Math.max(row!.at + 1, this.#nowMs());
      this.#storage.run(
        'update instructions set unsigned = ?, recorded_at_ms = ?, broadcast_at_ms = ?, broadcast_unsigned = ?, shared = 1 where transaction_id = ?',
        text,
        atMs,
        atMs,
        sha256(text),
        transactionId,
      );
      this.#amounts.note(transactionId, version, false);
      return true;
    });
  }

  /**
   * From now on other replicas may have the bound version, and may sign it. Within a transaction or alone. False where
   * it was superseded meanwhile: it stays here.
   */
  handOut(transactionId: string): boolean {
    return (
      this.#storage.run(
        'update instructions set shared = 0, handed_out = 1 where transaction_id = ? and superseded_by is null',
        transactionId,
      ) > 0
    );
  }

  /** Another replica may sign this version. Where it is signed here as well, its txid and fate are known. */
  noteElsewhere({ instruction: { id }, unsigned }: RecordedInstruction): void {
    const known = this.#elsewhere(id),
      version = sha256(unsigned.payload);
    if (known !== null) this.#amounts.note(id, { ...unsigned, amounts: unsigned.amounts ?? [] }, false);
    if (known === null || known.includes(version)) return;
    this.#storage.run(
      'update instructions set elsewhere = ? where transaction_id = ?',
      JSON.stringify([...known, version]),
      id,
    );
  }

  /**
   * Amounts of all versions of a send-all that were built or signed, here or at another replica: smallest unit. Null
   * where an older edge recorded only the newest.
   */
  amountsOf(transactionId: string): readonly bigint[] | null {
    return this.#amounts.of(transactionId)?.map(BigInt) ?? null;
  }

  /** What the version of this txid pays that was signed here, smallest unit; null where that is not known. */
  amountOfSigned(transactionId: string, txid: string): bigint | null {
    const signed = this.#signatures.paidBy(transactionId, txid);
    if (signed === null || signed.amount !== null) return signed?.amount ?? null;
    const unsigned = this.get(transactionId)?.unsigned;
    return unsigned?.payload === signed.payload ? unsigned.amount : null;
  }

  /** Whether another replica may have signed a version that is not signed here. */
  mayBeSignedElsewhere(transactionId: string): boolean {
    const own = new Set(
      this.signaturesOf(transactionId).flatMap(({ payload, signed }) => (signed === null ? [] : [sha256(payload)])),
    );
    return this.#elsewhere(transactionId)?.some((version) => !own.has(version)) ?? false;
  }

  #elsewhere(transactionId: string): readonly string[] | null {
    const row = this.#storage.one<{ elsewhere: string }>(
      'select elsewhere from instructions where transaction_id = ?',
      transactionId,
    );
    return row === null ? null : keptList(row.elsewhere, 'instructions.elsewhere');
  }

  /**
   * Whether any replica may have signed a version: a holder of a local key broadcast one, or this replica signed one.
   */
  mayBeSigned(transactionId: string): boolean {
    return this.#known(transactionId)?.isBroadcast === true;
  }

  /** When a holder of a local key broadcast the newest version here; null when nobody did. */
  broadcastAtMs(transactionId: string): number | null {
    const row = this.#storage.one<{ unsigned: string; at: number | null; of: string | null }>(
      'select unsigned, broadcast_at_ms as at, broadcast_unsigned as "of" from instructions where transaction_id = ?',
      transactionId,
    );
    return row === null || this.#withdrawn.has(transactionId) || row.of !== sha256(row.unsigned) ? null : row.at;
  }

  /**
   * Accepts a record of another replica; an older version than the known one changes nothing. False when another
   * instruction has that id, its Idempotency-Key belongs to another id, or a known version could land beside it.
   */
  take({
    transactionId,
    instruction,
    unsigned,
    askedAtMs,
    broadcastAtMs,
    broadcastUnsigned,
  }: StoredInstruction): boolean {
    return this.#storage.transaction(() => {
      const known = this.#known(transactionId);
      if (known !== null && known.instruction !== instruction) return false;
      const received = fromJson<RecordedUnsigned>(unsigned),
        isExcluding = known === null || excludeEachOther(received, known.unsigned);
      // Once it is bound, nobody signs an unbound version.
      if (known?.unsigned.bound === true && received.bound !== true && bindsAtBroadcast(instruction)) return true;
      if (known?.isBroadcast === true && !isExcluding) return false;
      const parsed = fromJson<Instruction | null>(instruction);
      if (parsed?.id !== transactionId) return false;
      // The replica that recorded it has proven that nobody can sign its predecessor.
      const mayGiveUp = (holderId: string) => this.signaturesOf(holderId).length === 0;
      if (known === null && !this.#keys.mayKeep(parsed, mayGiveUp)) return false;
      // What was broadcast may be signed elsewhere: drop a later version here that nobody broadcast and that could land
      // beside it.
      const isNewlyBound = received.bound === true && known?.unsigned.bound !== true;
      const always = broadcastAtMs !== null && (!isExcluding || isNewlyBound) ? 1 : 0;
      this.#storage.run(
        `insert into instructions as i (transaction_id, instruction, unsigned, recorded_at_ms, shared) values (?, ?, ?, ?, 1)
        on conflict (transaction_id) do update set unsigned = excluded.unsigned, recorded_at_ms = max(i.recorded_at_ms, excluded.recorded_at_ms), shared = 1
          where i.recorded_at_ms < excluded.recorded_at_ms or ? = 1`,
        transactionId,
        instruction,
        unsigned,
        askedAtMs,
        always,
      );
      this.#storage.run(
        `update instructions set broadcast_at_ms = ?, broadcast_unsigned = ?
        where transaction_id = ? and coalesce(broadcast_at_ms, -1) < ?`,
        broadcastAtMs,
        broadcastUnsigned,
        transactionId,
        broadcastAtMs ?? -1,
      );
      this.#amounts.note(transactionId, received, known === null);
      if (received.bound === true)
        this.#storage.run('update instructions set handed_out = 1 where transaction_id = ?', transactionId);
      this.#keys.hold(parsed);
      return true;
    });
  }

  /** What an Idempotency-Key (SHA-256) was used for within the last 24 hours; null when it was not. */
  boundTo(requestKey: string): KeyHolder | null {
    return this.#keys.holderOf(requestKey);
  }

  /** The newer build that took over its Idempotency-Key; a superseded build is never signed. Null: none did. */
  supersededBy(transactionId: string): string | null {
    return this.#keys.successorOf(transactionId);
  }

  #known(transactionId: string): {
    instruction: string;
    unsigned: RecordedUnsigned;
    isBroadcast: boolean;
    isBuiltHere: boolean;
    isHandedOut: boolean;
  } | null {
    const row = this.#storage.one<KnownRow>(
      'select instruction, unsigned, broadcast_at_ms, built_here, handed_out from instructions where transaction_id = ?',
      transactionId,
    );
    if (row === null) return null;
    // An older edge recorded no broadcasts: what it signed was broadcast.
    const isSigned = this.signaturesOf(transactionId).length > 0,
      unsigned = fromJson<RecordedUnsigned>(row.unsigned);
    // Nobody signs it without its counter, even after a broadcast.
    const mayBeSigned = row.broadcast_at_ms !== null && (!bindsAtBroadcast(row.instruction) || row.handed_out === 1);
    return {
      instruction: row.instruction,
      unsigned,
      isBroadcast: isSigned || mayBeSigned,
      isBuiltHere: row.built_here === 1,
      isHandedOut: row.handed_out === 1,
    };
  }

  /** Records since an instant that the cloud has not accepted, oldest first, up to a size. */
  unshared(sinceMs: number, unsignedCharactersMax: number): StoredInstruction[] {
    return this.#storage.all<StoredInstruction>(
      `select transaction_id as transactionId, instruction, unsigned, recorded_at_ms as askedAtMs,
        broadcast_at_ms as broadcastAtMs, broadcast_unsigned as broadcastUnsigned
      from instructions where shared = 0 and recorded_at_ms >= ? and length(unsigned) <= ? order by recorded_at_ms, transaction_id limit 1000`,
      sinceMs,
      unsignedCharactersMax,
    );
  }

  noteShared(transactionId: string, askedAtMs: number): void {
    this.#storage.run(
      'update instructions set shared = 1 where transaction_id = ? and recorded_at_ms = ?',
      transactionId,
      askedAtMs,
    );
  }

  /**
   * Writes a payload into the journal, before it is signed. Nothing happens when it is there already. With it is
   * written that it was broadcast, so that the other replicas hear of it: what is refused before leaves no trace that a
   * frame could have signed.
   */
  journal(recorded: RecordedInstruction): void {
    const { id } = recorded.instruction;
    this.#storage.transaction(() => {
      if (this.#signatures.write(recorded) && this.broadcastAtMs(id) === null) this.noteBroadcast(id);
    });
  }

  /** To be called within a transaction that also puts the bytes into the outbox. */
  noteSigned(transactionId: string, payload: string, signed: Signed): void {
    this.#signatures.noteSigned(transactionId, payload, signed);
  }

  noteOutcome(transactionId: string, txid: string, outcome: 'taken' | 'refused', code: string | null): void {
    this.#signatures.noteOutcome(transactionId, txid, outcome, code);
  }

  /** As `SignatureJournal.transactionsOf`. */
  transactionsOf(txid: string): string[] {
    return this.#signatures.transactionsOf(txid);
  }

  /** Payloads signed for a transaction, oldest first. */
  signaturesOf(transactionId: string): Signature[] {
    return this.#signatures.of(transactionId);
  }

  /** As `SignatureJournal.under`. */
  signaturesUnder(chain: Chain, sender: string, key: ReplayKey): Signature[] {
    return this.#signatures.under(chain, sender, key);
  }

  /** As `SignatureJournal.highestCounter`. */
  highestCounter(chain: Chain, sender: string, key: ReplayKey): bigint | null {
    return this.#signatures.highestCounter(chain, sender, key);
  }

  transaction<T>(write: () => T): T {
    return this.#storage.transaction(write);
  }
}

/** Whether it excludes by its coins a build that was given up for it, and that another replica may sign. */
const tookCoinsOver = ({ request }: Instruction, { replayKey }: Unsigned): boolean =>
  replayKey.kind === 'outpoints' && (request?.supersedes?.length ?? 0) > 0;
