/**
 * The newest checkpoint of the organization's audit log, kept where the cloud cannot change it. Once a day the leader
 * asks for the log as it goes on from there and computes the chain itself: a cloud whose log does not continue what
 * was kept is an alarm, with the entry, and what was kept stays. Live edges alone. Console U4.
 */
import { isRefusal } from '../../protocol/errors.ts';
import { ChainCheck, isCheckpoint, type ChainEntry, type Checkpoint } from '../../protocol/node/audit-chain.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { EdgeLog } from '../process/log.ts';
import { StorageFailed } from '../storage/failed.ts';
import { damaged, keptJson } from '../storage/record-forms.ts';
import type { Storage } from '../storage/storage.ts';
import type { Lease } from './lease.ts';
import type { Upstream } from './upstream.ts';

const KEPT = 'audit_checkpoint';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How often it is looked whether a day has passed. */
export const AUDIT_LOOK_MS = HOUR_MS;
/** Answers that one look reads; a longer way goes on with the next. */
const ANSWERS_PER_LOOK = 20;
/** A cloud that has answered nothing for so long withholds the log. */
const WITHHELD_AFTER_MS = 3 * DAY_MS;
/** Texts of younger entries are in every log, whatever its tier keeps. */
const TEXTS_STAY_MS = Math.min(...Object.values(TIER_TERMS).map(({ auditDays }) => auditDays ?? 7)) * DAY_MS;

/** The place in the chain that is known to be good. */
type Place = Pick<Checkpoint, 'seq' | 'hash'>;

/**
 *   missing cut changed reordered rewritten   of the chain, at `seq`; protocol/node/audit-chain.ts
 *   foreign                                   the checkpoint is of another organization
 *   withheld                                  texts that must still be there are missing, or entries
 */
export interface AuditProblem {
  readonly seq: number;
  readonly problem: 'missing' | 'changed' | 'reordered' | 'cut' | 'rewritten' | 'foreign' | 'withheld';
}

interface Kept {
  readonly checkpoint: Checkpoint;
  readonly keptAtMs: number;
  /** How far a long way has come. */
  readonly walked: Place;
  /** What was found with the last look; null where the log continued. */
  readonly problem: (AuditProblem & { readonly atMs: number }) | null;
}

/** What the data directory holds; null before the first checkpoint. Throws: StorageFailed, for what cannot be read. */
export function keptAudit(storage: Pick<Storage, 'setting'>): Kept | null {
  const text = storage.setting(KEPT);
  if (text === null || text === '') return null;
  const kept = keptJson(text, KEPT);
  // To go on without it would be to believe whatever log the cloud has now.
  if (!isKept(kept)) throw damaged(KEPT);
  return kept;
}

function isKept(kept: unknown): kept is Kept {
  const { checkpoint, keptAtMs, walked, problem } = (kept ?? {}) as Partial<Kept>;
  return (
    isCheckpoint(checkpoint) &&
    Number.isSafeInteger(keptAtMs) &&
    Number.isSafeInteger(walked?.seq) &&
    typeof walked?.hash === 'string' &&
    (problem === null || typeof problem?.problem === 'string')
  );
}

/** The next checkpoint is taken as it comes. */
export const forgetAudit = (storage: Pick<Storage, 'setSetting'>): void => storage.setSetting(KEPT, '');

export interface AuditKeeperSettings {
  readonly environment: Environment;
  readonly storage: Pick<Storage, 'setting' | 'setSetting'>;
  readonly upstream: { readonly signed: Pick<Upstream['signed'], 'call'> };
  readonly lease: { view(): Pick<ReturnType<Lease['view']>, 'held'> };
  readonly nowMs: () => number;
  readonly log: Pick<EdgeLog, 'info' | 'warn' | 'alarm' | 'fault'>;
}

export class AuditKeeper {
  readonly #settings: AuditKeeperSettings;
  #looking: Promise<void> | null = null;
  #heardAtMs: number;
  #saidWithheld = false;

  /** Throws: StorageFailed when what is kept cannot be read: the edge does not start. */
  constructor(settings: AuditKeeperSettings) {
    this.#settings = settings;
    keptAudit(settings.storage);
    this.#heardAtMs = settings.nowMs();
  }

  /** True while the last answer of the cloud does not continue what is kept, or what is kept cannot be read. */
  get broken(): boolean {
    try {
      return (keptAudit(this.#settings.storage)?.problem ?? null) !== null;
    } catch (error) {
      if (!(error instanceof StorageFailed)) throw error;
      return true;
    }
  }

  /** Asks, where this replica leads and a day has passed. Several callers share one look. */
  look(): Promise<void> {
    const { environment, lease, nowMs, log } = this.#settings;
    if (environment !== 'live' || !lease.view().held) {
      this.#heardAtMs = nowMs(); // another replica asks
      return Promise.resolve();
    }
    return (this.#looking ??= this.#askWhereDue()
      .catch((error: unknown) => log.fault('audit_fault', error))
      .finally(() => {
        this.#looking = null;
      }));
  }

  async #askWhereDue(): Promise<void> {
    const { nowMs, storage } = this.#settings;
    const kept = keptAudit(storage);
    const isDue =
      kept === null || kept.problem !== null || kept.walked.seq !== kept.checkpoint.seq || nowMs() < kept.keptAtMs;
    if (isDue || nowMs() - kept.keptAtMs >= DAY_MS) await this.#ask();
  }

  async #ask(): Promise<void> {
    const { storage, upstream, log, nowMs } = this.#settings;
    for (let count = 0; count < ANSWERS_PER_LOOK; count += 1) {
      const kept = keptAudit(storage);
      const place = kept?.walked ?? null;
      const answer = await upstream.signed.call('continueAuditLog', { body: { behind: place?.seq ?? null } });
      if (isRefusal(answer)) {
        log.warn('audit_checkpoint_refused', { code: answer.code });
        return this.#noteSilence();
      }
      this.#heardAtMs = nowMs();
      this.#saidWithheld = false;
      if (place === null || kept === null) return this.#keep(answer.checkpoint, answer.checkpoint);
      const judged = judge(kept, place, answer, nowMs());
      if ('problem' in judged) return this.#alarm(kept, judged);
      if (judged.seq === answer.checkpoint.seq) return this.#keep(answer.checkpoint, judged);
      this.#save({ ...kept, walked: judged, problem: null });
    }
  }

  #keep(checkpoint: Checkpoint, walked: Place): void {
    this.#save({ checkpoint, walked, keptAtMs: this.#settings.nowMs(), problem: null });
    this.#settings.log.info('audit_checkpoint_kept', { seq: checkpoint.seq });
  }

  #alarm(kept: Kept, found: AuditProblem): void {
    this.#save({ ...kept, problem: { ...found, atMs: this.#settings.nowMs() } });
    this.#settings.log.alarm('audit_log_not_continued', {
      reason: found.problem,
      seq: found.seq,
      next: 'show it to the owner: flock-edge audit show has the kept checkpoint, flock audit verify compares an export with it',
    });
  }

  #noteSilence(): void {
    if (this.#settings.nowMs() - this.#heardAtMs < WITHHELD_AFTER_MS || this.#saidWithheld) return;
    this.#saidWithheld = true;
    this.#settings.log.alarm('audit_checkpoint_withheld', { next: 'ask the operator of the cloud' });
  }

  #save(kept: Kept): void {
    this.#settings.storage.setSetting(KEPT, JSON.stringify(kept));
  }
}

/** Where the chain is good up to now, or what does not continue it. */
function judge(
  kept: Kept,
  place: Place,
  { checkpoint, entries }: { readonly checkpoint: Checkpoint; readonly entries: readonly ChainEntry[] },
  nowMs: number,
): Place | AuditProblem {
  if (checkpoint.organization !== kept.checkpoint.organization) return { seq: checkpoint.seq, problem: 'foreign' };
  if (checkpoint.seq < place.seq) return { seq: checkpoint.seq + 1, problem: 'cut' };
  // Without its text an entry proves nothing: taken only where the text may be past its time.
  const textless = entries.find(({ text }) => text === null);
  if (textless !== undefined && nowMs - kept.keptAtMs < TEXTS_STAY_MS)
    return { seq: textless.seq, problem: 'withheld' };
  const check = new ChainCheck(checkpoint.organization, [checkpoint], place);
  for (const entry of entries) check.add(entry);
  const [problem] = check.problems;
  if (problem !== undefined) return problem;
  const { seq, hash } = check.head;
  if (seq === checkpoint.seq) return hash === checkpoint.hash ? { seq, hash } : { seq, problem: 'rewritten' };
  return entries.length === 0 ? { seq: seq + 1, problem: 'withheld' } : { seq, hash };
}
