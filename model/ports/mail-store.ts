/** Mail that waits to be sent. */
import type { AccountId } from '../../protocol/ids.ts';
import type { LetterKind, PayerLetterKind } from './people-store.ts';
import type { EventEnvelope } from '../../protocol/schema/events.ts';
import type { EventName } from '../../protocol/slugs.ts';

/** Letters about statements, which no event is about. */
export type StatementLetter = 'statement_issued' | 'statement_due' | 'statement_late' | 'subscription_lapsed';

/** Mail to one person about one event; written with the event, for every owner of the organization. Spec §5.7. */
export interface DueMail {
  eventId: string;
  userId: string;
  accountId: AccountId;
  organization: string;
  kind: EventName | StatementLetter;
  recipient: string;
  /** The event's own envelope. */
  body: EventEnvelope;
  /** Tries so far. */
  attempts: number;
}

/** A letter that no event is about. Console A10. */
export interface DueLetter {
  readonly id: string;
  readonly kind: LetterKind | PayerLetterKind;
  readonly recipient: string;
  readonly sealedToken: string | null;
  readonly facts: Readonly<Record<string, string>>;
  readonly attempts: number;
}

export interface MailStore {
  /** As `claimDue`, of the letters. */
  claimLetters(limit: number, nowMs: number, claimMs: number): Promise<DueLetter[]>;
  /** As `record`; what was sent has forgotten its token. */
  recordLetter(id: string, tried: { atMs: number; againAtMs: number | null; error: string | null }): Promise<void>;
  /** Claims due mail for `claimMs`, oldest first; SKIP LOCKED. */
  claimDue(limit: number, nowMs: number, claimMs: number): Promise<DueMail[]>;
  /** Sent, or given up where there is an `error`; or tried again at `againAtMs`. What was sent stays sent. */
  record(
    mail: Pick<DueMail, 'eventId' | 'userId'>,
    tried: { atMs: number; againAtMs: number | null; error: string | null },
  ): Promise<void>;
  /** Mail and letters that are not sent yet. */
  unsent(): Promise<number>;
  /** Forgets mail and letters that were sent before an instant, and links whose time was over by then. */
  purgeSent(olderThanMs: number): Promise<number>;
}
