/**
 * What mail says. Pure. It says who, what and where to decide; it holds no key, no code and no link that acts by
 * itself, so that a reader can do nothing with it.
 */
import type { DueMail } from '../../model/ports/mail-store.ts';

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
  if (mail.kind !== 'identity_rotation_detected') return null;
  const { environment, timestamp, data } = mail.body;
  const organization = oneLine(mail.organization);
  const { rotationId, pinnedIdentity, newIdentity } = data as Record<
    'rotationId' | 'pinnedIdentity' | 'newIdentity',
    string
  >;
  return {
    messageId: `<${mail.eventId}.${mail.userId}@${new URL(publicUrl).hostname.replace(/[[\]]/g, '')}>`,
    to: mail.recipient,
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
