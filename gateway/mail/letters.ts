/**
 * What mail says. Pure. It says who, what and where to decide; it holds no key, no code and no link that acts by
 * itself, so that a reader can do nothing with it.
 */
import type { DueMail, StatementLetter } from '../../model/ports/mail-store.ts';

export interface Letter {
  /** The same at each try, so that a mailbox may recognise a repetition. */
  readonly messageId: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * The letter of a mail, or null for an event that no letter is written about. `publicUrl` is the cloud's own origin.
 */
export function letterOf(
  mail: Pick<DueMail, 'eventId' | 'userId' | 'organization' | 'kind' | 'recipient' | 'body'>,
  publicUrl: string,
): Letter | null {
  const words = mail.kind === 'identity_rotation_detected' ? rotationLetter(mail, publicUrl) : statementLetter(mail);
  if (words === null) return null;
  return {
    messageId: `<${mail.eventId}.${mail.userId}@${new URL(publicUrl).hostname.replace(/[[\]]/g, '')}>`,
    to: mail.recipient,
    ...words,
  };
}

type Words = Pick<Letter, 'subject' | 'text'>;

const STATEMENTS: Readonly<Record<StatementLetter, { subject: string; first: string }>> = {
  statement_issued: { subject: 'Statement', first: 'The statement of a month has been made.' },
  statement_due: { subject: 'Due today: statement', first: 'A statement is due today.' },
  statement_late: {
    subject: 'Unpaid: statement',
    first:
      'A statement is unpaid a week after it was due. A week from now the subscription lapses: no addresses are\nissued and no keys of further sources registered until it is paid. Everything else goes on.',
  },
  subscription_lapsed: {
    subject: 'Subscription lapsed: statement',
    first:
      'A statement is unpaid, and the subscription has lapsed: no addresses are issued and no keys of further sources\nregistered until it is paid. Deposits, withdrawals and webhooks go on.',
  },
};

function statementLetter({ kind, organization, body }: Pick<DueMail, 'kind' | 'organization' | 'body'>): Words | null {
  if (!(kind in STATEMENTS)) return null;
  const { subject, first } = STATEMENTS[kind as StatementLetter];
  const { number, period, totalCents, leftCents } = body.data as Record<string, string>;
  return {
    subject: `${subject} ${number} of ${oneLine(organization)}`,
    text: `${first}

  organization      ${oneLine(organization)}
  statement         ${number}
  month             ${period}, UTC
  total             USD ${dollarsOf(totalCents!)}
  left to pay       USD ${dollarsOf(leftCents!)}
  due               14 days after the first of the month that follows

Its lines, and the way to pay, are in the console and at GET /v1/billing/statements.
`,
  };
}

const dollarsOf = (cents: string): string =>
  `${cents.padStart(3, '0').slice(0, -2)}.${cents.padStart(3, '0').slice(-2)}`;

function rotationLetter(mail: Pick<DueMail, 'organization' | 'body'>, publicUrl: string): Words {
  const { environment, timestamp, data } = mail.body;
  const organization = oneLine(mail.organization);
  const { rotationId, pinnedIdentity, newIdentity } = data as Record<
    'rotationId' | 'pinnedIdentity' | 'newIdentity',
    string
  >;
  return {
    subject: `Another edge identity for ${organization} (${environment}): approve or reject it`,
    text: `An edge of ${organization}, ${environment}, came with another identity than the pinned one.

  at                ${timestamp}
  pinned identity   ${pinnedIdentity}
  new identity      ${newIdentity}
  rotation          ${rotationId}

The fingerprints are the first 16 hex digits of the SHA-256 of each public key. Until an owner decides, the new keys are
held back, no addresses are issued on the chains concerned, and nothing is registered or signed. Addresses that were
issued before stay watched, and their deposits are still announced.

If you changed the recovery phrase of your edge, sign in and approve the rotation with a fresh code:
  POST ${publicUrl}/v1/settings/rotations/${rotationId}/approve

If you did not, reject it, and revoke the API key that the edge came with: somebody else holds it.
  POST ${publicUrl}/v1/settings/rotations/${rotationId}/reject

Both are of the environment ${environment} (header X-Environment). Nobody will ever ask you for a recovery phrase, a key or
a code by mail.
`,
  };
}

/** A name that people chose, without what could break a line or hide text. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
