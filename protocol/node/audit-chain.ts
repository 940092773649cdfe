/**
 * The chain of an audit log: hash = SHA-256(hash of the entry before ‖ text), the first behind SHA-256(organization).
 * The cloud checks its own log with this, and `flock audit verify` an exported file, without the cloud. Console U3, U4.
 */
import { createHash, createPublicKey, verify, type JsonWebKey } from 'node:crypto';

export interface ChainEntry {
  readonly seq: number;
  /** 64 hex digits. */
  readonly hash: string;
  /** Null where its time is over; only the oldest entries have none. */
  readonly text: string | null;
}

/** What a log said of its newest entry, signed. */
export interface Checkpoint {
  readonly organization: string;
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
  readonly kid: string;
  /** Ed25519 over `checkpointText`, base64url. */
  readonly signature: string;
}

/**
 *   missing     an entry was deleted
 *   changed     text or hash is not what was recorded; an entry that was inserted shows as this, too
 *   reordered   an entry comes again, or before an earlier one
 *   cut         entries at the end are gone
 *   rewritten   the chain is whole, and not the one that an earlier checkpoint names
 */
export interface ChainProblem {
  readonly seq: number;
  readonly problem: 'missing' | 'changed' | 'reordered' | 'cut' | 'rewritten';
}

const PROBLEMS_MAX = 20;

const sha256 = (...parts: (string | Buffer)[]): string => {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest('hex');
};

/** What the key signs: no token begins like this. */
export function checkpointText({ organization, seq, hash, at }: Omit<Checkpoint, 'kid' | 'signature'>): string {
  return `flock-audit-checkpoint-v1\n${organization}\n${seq}\n${hash}\n${at}`;
}

/** Whether a checkpoint is signed by a key of a JWKS. */
export function isSigned(checkpoint: Checkpoint, keys: readonly object[]): boolean {
  const jwk = keys.find((key) => (key as { kid?: unknown }).kid === checkpoint.kid);
  if (jwk === undefined) return false;
  const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  const signature = Buffer.from(checkpoint.signature, 'base64url');
  return key.asymmetricKeyType === 'ed25519' && verify(null, Buffer.from(checkpointText(checkpoint)), key, signature);
}

/** Takes the entries of a log in the order in which they are stored. */
export class ChainCheck {
  readonly problems: ChainProblem[] = [];
  readonly #organization: string;
  readonly #known: readonly Pick<Checkpoint, 'seq' | 'hash'>[];
  #seq = 0;
  #hash: string;
  #hasText = false;

  /** `known`: what is known of the log from earlier. `behind`: the entry after which the walk begins. */
  constructor(
    organization: string,
    known: readonly Pick<Checkpoint, 'seq' | 'hash'>[] = [],
    behind?: Pick<Checkpoint, 'seq' | 'hash'>,
  ) {
    this.#organization = organization;
    this.#known = known;
    this.#seq = behind?.seq ?? 0;
    this.#hash = behind?.hash ?? sha256(organization);
  }

  /** `seq` and `hash` of the last entry. */
  get head(): { readonly seq: number; readonly hash: string } {
    return { seq: this.#seq, hash: this.#hash };
  }

  add(entry: ChainEntry): void {
    const expected = this.#seq + 1;
    if (entry.seq < expected) return this.#note(entry.seq, 'reordered');
    if (entry.seq > expected) this.#note(expected, 'missing');
    else if (!this.#follows(entry)) this.#note(entry.seq, 'changed');
    this.#seq = entry.seq;
    this.#hash = entry.hash;
    if (this.#known.some(({ seq, hash }) => seq === entry.seq && hash !== entry.hash))
      this.#note(entry.seq, 'rewritten');
  }

  /** After the last entry. */
  end(): void {
    const furthest = Math.max(0, ...this.#known.map(({ seq }) => seq));
    if (furthest > this.#seq) this.#note(this.#seq + 1, 'cut');
  }

  #follows({ seq, hash, text }: ChainEntry): boolean {
    if (text === null) return !this.#hasText && /^[0-9a-f]{64}$/.test(hash);
    this.#hasText = true;
    if (sha256(Buffer.from(this.#hash, 'hex'), Buffer.from(text, 'utf8')) !== hash) return false;
    const said = parsed(text);
    return said?.seq === seq && said.organization === this.#organization;
  }

  #note(seq: number, problem: ChainProblem['problem']): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ seq, problem });
  }
}

function parsed(text: string): { seq?: unknown; organization?: unknown } | null {
  try {
    return JSON.parse(text) as { seq?: unknown; organization?: unknown } | null;
  } catch {
    return null;
  }
}

// ── Exported files ───────────────────────────────────────────────────────────────────────────────────────────────

/** First line of an export. */
export interface ExportHead {
  readonly format: 'flock-audit-1';
  readonly checkpoint: Checkpoint;
}

export type FileVerdict =
  | {
      readonly ok: boolean;
      readonly checkpoint: Checkpoint;
      readonly signed: boolean | null;
      readonly problems: readonly ChainProblem[];
    }
  | { readonly ok: false; readonly line: number; readonly reason: string };

/**
 * Checks the lines of an export: `keys` of the cloud's `/.well-known/jwks.json` where they are at hand, `earlier`
 * checkpoints that somebody kept. `signed` is null without keys.
 */
export async function verifyExport(
  lines: AsyncIterable<string>,
  { keys, earlier = [] }: { keys?: readonly object[]; earlier?: readonly Checkpoint[] },
): Promise<FileVerdict> {
  let check: ChainCheck | null = null;
  let head: ExportHead | null = null;
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text === '') continue;
    const value = entryOf(text);
    if (value === null) return { ok: false, line, reason: 'no line of an export' };
    if (head === null || check === null) {
      if (!('format' in value)) return { ok: false, line, reason: 'the first line names no format and checkpoint' };
      head = value;
      const foreign = earlier.find(({ organization }) => organization !== value.checkpoint.organization);
      if (foreign !== undefined) return { ok: false, line, reason: `a checkpoint is of ${foreign.organization}` };
      check = new ChainCheck(value.checkpoint.organization, [value.checkpoint, ...earlier]);
    } else if ('format' in value) return { ok: false, line, reason: 'a second head' };
    else check.add(value);
  }
  if (head === null || check === null) return { ok: false, line, reason: 'the file is empty' };
  check.end();
  const signed = keys === undefined ? null : [head.checkpoint, ...earlier].every((one) => isSigned(one, keys));
  return {
    ok: check.problems.length === 0 && signed !== false,
    checkpoint: head.checkpoint,
    signed,
    problems: check.problems,
  };
}

/** Null for what is no line of an export. */
function entryOf(text: string): ChainEntry | ExportHead | null {
  const value = parsed(text) as Partial<ChainEntry & ExportHead> | null;
  if (value === null || typeof value !== 'object') return null;
  if (value.format === 'flock-audit-1') return isCheckpoint(value.checkpoint) ? (value as ExportHead) : null;
  const isEntry =
    Number.isSafeInteger(value.seq) &&
    typeof value.hash === 'string' &&
    (value.text === null || typeof value.text === 'string');
  return isEntry ? (value as ChainEntry) : null;
}

/** Whether a value has the form of a checkpoint. */
export function isCheckpoint(value: unknown): value is Checkpoint {
  const { organization, seq, hash, at, kid, signature } = (value ?? {}) as Partial<Checkpoint>;
  return (
    Number.isSafeInteger(seq) && [organization, hash, at, kid, signature].every((text) => typeof text === 'string')
  );
}
