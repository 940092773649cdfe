/**
 * Mail out of the outbox, to the transport, and what became of it back into the outbox.
 *
 *   due ── claimed ──▶ handed to the transport ── taken ──▶ sent
 *                                              ── not taken, or not known ──▶ due again after a pause, for ever
 *                                              ── its mailbox refused for good, at the fourth try or later ──▶ given up
 *   claimed ── the process ends ──▶ the claim runs out: due again, so that a message may come twice and never not at
 * all
 */
import type { DueLetter, DueMail, MailStore } from '../../model/ports/mail-store.ts';
import type { SecretBox } from '../../model/ports/secret-box.ts';
import { letterContext, linkHashOf } from '../http/organization/links.ts';
import type { InvoiceStore } from '../../model/ports/invoice-store.ts';
import { invoiceLinkOf, invoiceWordsOf, newInvoiceToken } from './invoice-letter.ts';
import { letterOf, type Letter } from './letters.ts';
import { peopleLetterOf } from './people-letters.ts';
import type { MailTransport } from './transports.ts';

/**
 * Messages of one claim: few, so that a claim outlives a server that answers none of them and still ends soon after a
 * crash.
 */
const CLAIM_MAX = 2;
const CLAIM_MS = 120_000;
const MINUTE_MS = 60_000;
/** Pauses after failed tries; the last one is repeated: whom mail is for must hear of it. */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS];
/** A mailbox that is refused for good is believed from this try on, 36 minutes after the first. */
const FOR_GOOD_TRIES = 4;
/** RFC 3463: what is wrong is not the mailbox, but who sends, or a rule that its operator changes. */
const NOT_THE_MAILBOX = /^5[0-9]{2}[ -]5\.(?:1\.[78]|7\.[0-9]{1,3})\b/;
const ERROR_CHARS_MAX = 300;

export interface MailSenderDeps {
  readonly store: MailStore;
  readonly invoices: {
    readonly mint: InvoiceStore['mint'];
    /** Origin of the pay page. */
    readonly payUrl: string;
  };
  readonly transport: MailTransport;
  /** Opens the tokens of links. */
  readonly secrets: Pick<SecretBox, 'open'>;
  /** Origin of the cloud, for the words of a letter. */
  readonly publicUrl: string;
  readonly nowMs: () => number;
  /** A letter that is given up counts here. */
  readonly metrics: { add(name: 'svc_mail_given_up_total', labels: Record<string, never>): void };
  readonly log: Record<'info' | 'warn', (fields: object, message: string) => void>;
}

/** Sends what is due; answers how many messages the transport took. Rejects: with the store's error. */
export async function sendDueMail(deps: MailSenderDeps): Promise<number> {
  let sent = 0;
  for (;;) {
    const due = await deps.store.claimDue(CLAIM_MAX, deps.nowMs(), CLAIM_MS);
    for (const mail of due) sent += (await sendOne(deps, mail)) ? 1 : 0;
    const letters = await deps.store.claimLetters(CLAIM_MAX, deps.nowMs(), CLAIM_MS);
    for (const letter of letters) sent += (await sendLetter(deps, letter)) ? 1 : 0;
    if (due.length < CLAIM_MAX && letters.length < CLAIM_MAX) return sent;
  }
}

async function sendOne(deps: MailSenderDeps, mail: DueMail): Promise<boolean> {
  const { store, transport, publicUrl, nowMs, log } = deps;
  const { eventId, accountId, kind } = mail;
  const failure = await handOver(transport, kind, () => letterOf(mail, publicUrl));
  await store.record(mail, triedAt(nowMs(), mail, failure));
  if (failure === null) log.info({ eventId, accountId, kind }, 'mail sent');
  else tell(deps, { eventId, accountId, kind }, mail, failure);
  return failure === null;
}

async function sendLetter(deps: MailSenderDeps, letter: DueLetter): Promise<boolean> {
  const { store, transport, secrets, invoices, publicUrl, nowMs, log } = deps;
  const { id, kind, recipient, sealedToken } = letter;
  const opened = () => (sealedToken === null ? null : secrets.open(sealedToken, letterContext(id)));
  const addressed = (words: Pick<Letter, 'subject' | 'text'> | null): Letter | null =>
    words === null ? null : { messageId: `<${id}@${new URL(publicUrl).hostname}>`, to: recipient, ...words };
  let isOver = false;
  const failure = await handOver(transport, kind, async () => {
    if (kind !== 'invoice') return addressed(peopleLetterOf({ ...letter, kind, token: opened() }, publicUrl));
    // Its link begins to work as it leaves, so that none that works lies in the database. payments I5.
    const token = opened() ?? newInvoiceToken();
    isOver = !(await invoices.mint(id, linkHashOf(token), nowMs()));
    return isOver ? 'over' : addressed(invoiceWordsOf(letter.facts, invoiceLinkOf(invoices.payUrl, token)));
  });
  await store.recordLetter(id, triedAt(nowMs(), letter, failure));
  if (failure === null)
    log.info({ letterId: id, kind }, isOver ? 'a newer link took the place of a letter' : 'mail sent');
  else tell(deps, { letterId: id, kind }, letter, failure);
  return failure === null;
}

interface Failure {
  readonly reason: string;
  /** The server of the mailbox said that it takes nothing, and that it will not (5xx of RCPT TO). */
  readonly isForGood: boolean;
}
interface Tried {
  readonly attempts: number;
}

const isGivenUp = ({ attempts }: Tried, { isForGood }: Failure): boolean => isForGood && attempts + 1 >= FOR_GOOD_TRIES;

function triedAt(atMs: number, mail: Tried, failure: Failure | null) {
  const isOver = failure === null || isGivenUp(mail, failure);
  return { atMs, againAtMs: isOver ? null : atMs + pauseMs(mail), error: failure?.reason ?? null };
}

function tell({ log, metrics }: MailSenderDeps, facts: object, mail: Tried, failure: Failure): void {
  const { reason } = failure,
    attempts = mail.attempts + 1;
  if (!isGivenUp(mail, failure)) return log.warn({ ...facts, attempts, reason }, 'mail could not be sent');
  metrics.add('svc_mail_given_up_total', {});
  log.warn({ ...facts, attempts, reason }, 'mail is given up: its mailbox is refused for good');
}

/** Null when the transport took it, or it is not to be sent any more; else why not. */
async function handOver(
  transport: MailTransport,
  kind: string,
  write: () => Letter | null | Promise<Letter | null | 'over'>,
): Promise<Failure | null> {
  try {
    const letter = await write();
    if (letter === 'over') return null;
    if (letter === null) throw new RangeError(`no letter is written about ${kind}`);
    await transport.send(letter);
    return null;
  } catch (error) {
    return { reason: reasonOf(error), isForGood: isForGood(error) };
  }
}

const pauseMs = ({ attempts }: Tried): number => PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)]!;

function isForGood(error: unknown): boolean {
  const { command, responseCode, response } = error as Record<'command' | 'responseCode' | 'response', unknown>;
  const isRefusal = typeof responseCode === 'number' && responseCode >= 500 && responseCode <= 599;
  return command === 'RCPT TO' && isRefusal && !NOT_THE_MAILBOX.test(String(response));
}

/** The transport's code and first line: a server's words may repeat a recipient, never a password. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const first = String(message ?? error).split('\n')[0]!;
  return `${typeof code === 'string' ? `${code}: ` : ''}${first}`.slice(0, ERROR_CHARS_MAX);
}
