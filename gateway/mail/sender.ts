/**
 * Mail out of the outbox, to the transport, and what became of it back into the outbox.
 *
 *   due ── claimed ──▶ handed to the transport ── taken ──▶ sent
 *                                              ── not taken, or not known ──▶ due again after a pause, for ever
 *   claimed ── the process ends ──▶ the claim runs out: due again, so that a message may come twice and never not at
 * all
 */
import type { DueMail, MailStore } from '../../model/ports/mail-store.ts';
import { letterOf } from './letters.ts';
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
const ERROR_CHARS_MAX = 300;

export interface MailSenderDeps {
  readonly store: MailStore;
  readonly transport: MailTransport;
  /** Origin of the cloud, for the words of a letter. */
  readonly publicUrl: string;
  readonly nowMs: () => number;
  readonly log: Record<'info' | 'warn', (fields: object, message: string) => void>;
}

/** Sends what is due; answers how many messages the transport took. Rejects: with the store's error. */
export async function sendDueMail(deps: MailSenderDeps): Promise<number> {
  let sent = 0;
  for (;;) {
    const due = await deps.store.claimDue(CLAIM_MAX, deps.nowMs(), CLAIM_MS);
    for (const mail of due) sent += (await sendOne(deps, mail)) ? 1 : 0;
    if (due.length < CLAIM_MAX) return sent;
  }
}

async function sendOne({ store, transport, publicUrl, nowMs, log }: MailSenderDeps, mail: DueMail): Promise<boolean> {
  const { eventId, accountId, kind } = mail;
  try {
    const letter = letterOf(mail, publicUrl);
    if (letter === null) throw new RangeError(`no letter is written about ${kind}`);
    await transport.send(letter);
  } catch (error) {
    const reason = reasonOf(error);
    const pauseMs = PAUSES_MS[Math.min(mail.attempts, PAUSES_MS.length - 1)]!;
    log.warn({ eventId, accountId, kind, attempts: mail.attempts + 1, reason }, 'mail could not be sent');
    await store.record(mail, { atMs: nowMs(), againAtMs: nowMs() + pauseMs, error: reason });
    return false;
  }
  await store.record(mail, { atMs: nowMs(), againAtMs: null, error: null });
  log.info({ eventId, accountId, kind }, 'mail sent');
  return true;
}

/** The transport's code and first line: a server's words may repeat a recipient, never a password. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const first = String(message ?? error).split('\n')[0]!;
  return `${typeof code === 'string' ? `${code}: ` : ''}${first}`.slice(0, ERROR_CHARS_MAX);
}
