/**
 * What letters to people say that no event is about. Pure. A link leads to a page of the console and has its token in
 * the fragment, which no server and no scanner of mail sees; opening it changes nothing. Console A7, A10.
 */
import type { LetterKind } from '../../model/ports/people-store.ts';

export interface PeopleLetter {
  readonly kind: LetterKind;
  readonly recipient: string;
  /** The secret of its link; null where it has none. */
  readonly token: string | null;
  readonly facts: Readonly<Record<string, string>>;
}

interface Words {
  readonly subject: string;
  readonly text: string;
}

const NOT_YOU = `If you did not ask for this, do nothing: without this letter nobody can go on.`;
const notYours = (publicUrl: string): string =>
  `If it was not you, set a new password now, and ask an owner of your organization to look:\n\n  ${publicUrl}/console/forgot`;
const NEVER = `Nobody will ever ask you for a recovery phrase, a key or a code by mail.`;

const QUOTA_WORDS: Readonly<Record<string, string>> = {
  addresses: 'active addresses',
  settledTransactions: 'settled withdrawals',
  webhooks: 'webhooks',
  edgeSessions: 'edge sessions',
};
const WIPE_LEAVES =
  'Your recovery phrase is untouched: it is at your edge alone. What lies on the addresses stays there, and only the phrase moves it.';

const shown = (text: string | undefined): string => (text ?? '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** Subject and text; null for a kind that a newer release writes. `publicUrl` is the cloud's own origin. */
export function peopleLetterOf({ kind, token, facts }: PeopleLetter, publicUrl: string): Words | null {
  const link = (page: string) => `  ${publicUrl}/console/${page}#${token ?? ''}`;
  const words: Readonly<Record<LetterKind, () => readonly [subject: string, ...paragraphs: string[]]>> = {
    verify: () => [
      'Confirm your email to sign up',
      'Somebody signed up with this email. Confirm it and set a password within 24 hours:',
      link('verify'),
      NOT_YOU,
    ],
    known: () => [
      'You have a sign-in already',
      'Somebody signed up with this email, which has a sign-in. Sign in, or set a new password, here:',
      `  ${publicUrl}/console/`,
      'If it was not you, do nothing: nothing has changed.',
    ],
    reset: () => [
      'Set a new password',
      'Somebody asked for a new password for this email. Set it within 30 minutes:',
      link('reset'),
      'It signs out every browser and leaves your second factor as it is.',
      NOT_YOU,
    ],
    password_changed: () => [
      'Your password was changed',
      'The password of this email was changed, and other browsers were signed out.',
      'If it was not you, set a new one now, and ask an owner of your organization to look:',
      `  ${publicUrl}/console/forgot`,
    ],
    email: () => [
      'Confirm your new email',
      'Somebody asked to sign in with this email from now on. Confirm it within 24 hours:',
      link('email'),
      NOT_YOU,
    ],
    email_taken: () => [
      'This email has a sign-in already',
      'Somebody asked to sign in with this email from now on. It belongs to a sign-in already, so nothing has changed.',
      'If it was you, sign in with it, or take another one.',
    ],
    email_changed: () => [
      'Your email was changed',
      `You sign in with ${shown(facts['email'])} from now on, and no longer with this email.`,
      'If it was not you, take it back within 7 days. This signs out every browser:',
      link('email'),
    ],
    email_restored: () => [
      'Your email was changed back',
      'You sign in with this email again. All browsers were signed out, and links that were open are good no more.',
      'If the change was not yours, set a new password now:',
      `  ${publicUrl}/console/forgot`,
    ],
    invitation: () => [
      `Invitation to ${shown(facts['organization'])}`,
      `${shown(facts['inviter'])} invites you to ${shown(facts['organization'])} as ${shown(facts['role'])}. Accept within 7 days:`,
      link('invitation'),
      'The invitation is for this email. If you do not know the sender, do nothing.',
    ],
    support_session: () => [
      `Staff reads ${shown(facts['organization'])} (${shown(facts['environment'])})`,
      `${shown(facts['by'])} of the operator reads the ${shown(facts['environment'])} environment of ${shown(facts['organization'])} until ${shown(facts['endsAt'])}, as a viewer, since an owner allows it. The reason given:`,
      `  ${shown(facts['reason'])}`,
      'End it, or allow it no longer, under settings, support access:',
      `  ${publicUrl}/console/`,
    ],
    quota_warning: () => [
      `Your plan: ${QUOTA_WORDS[facts['quota'] ?? ''] ?? 'a limit'} at ${shown(facts['threshold'])} %`,
      `${shown(facts['organization'])} uses ${shown(facts['used'])} of ${shown(facts['of'])} ${QUOTA_WORDS[facts['quota'] ?? ''] ?? ''} of its plan in ${shown(facts['period'])}. You are mailed once a month for each limit at 80 % and at 100 %.`,
      'See what is used, and change the plan, under usage and plan:',
      `  ${publicUrl}/console/`,
    ],
    wipe_scheduled: () => [
      `Your ${shown(facts['environment'])} environment will be wiped`,
      `${shown(facts['by'])} asked to wipe the ${shown(facts['environment'])} environment of ${shown(facts['organization'])} on ${shown(facts['at'])}. Its public keys, API keys, endpoints and labels are deleted, and its addresses are watched no more.`,
      WIPE_LEAVES,
      'Any owner can take it back until then, under settings, wipe:',
      `  ${publicUrl}/console/`,
    ],
    wipe_soon: () => [
      `Your ${shown(facts['environment'])} environment will be wiped within a day`,
      `The ${shown(facts['environment'])} environment of ${shown(facts['organization'])} is wiped on ${shown(facts['at'])}, as ${shown(facts['by'])} asked.`,
      WIPE_LEAVES,
      'Any owner can take it back until then, under settings, wipe:',
      `  ${publicUrl}/console/`,
    ],
    wipe_cancelled: () => [
      `Your ${shown(facts['environment'])} environment will not be wiped`,
      `The wipe of the ${shown(facts['environment'])} environment of ${shown(facts['organization'])} on ${shown(facts['at'])}, which ${shown(facts['by'])} had asked for, was taken back. Nothing was deleted.`,
    ],
    wipe_done: () => [
      `Your ${shown(facts['environment'])} environment was wiped`,
      `The ${shown(facts['environment'])} environment of ${shown(facts['organization'])} was wiped, as ${shown(facts['by'])} asked. Its books, statements and audit log stay.`,
      WIPE_LEAVES,
    ],
    key_ends: () => [
      `An API key ends on ${shown(facts['endsAt'])}`,
      `The key “${shown(facts['label'])}” (${shown(facts['prefix'])}, ${shown(facts['environment'])}) of ${shown(facts['organization'])} is used, and ends on ${shown(facts['endsAt'])}. From then on its requests are refused.`,
      'Make another one and put it in its place before:',
      `  ${publicUrl}/console/`,
    ],
    domain_lapsed: () => [
      'A domain is verified no more',
      `The TXT record of ${shown(facts['domain'])} was gone for three weeks, so it is no verified domain of ${shown(facts['organization'])} any more. Who signed in by its provider before goes on; nobody new is let in.`,
      'Publish the record again, and check the domain under settings, single sign-on:',
      `  ${publicUrl}/console/`,
    ],
    sso_certificate: () => [
      'The certificate of your identity provider ends soon',
      `The last certificate of the SAML provider of ${shown(facts['organization'])} ends on ${shown(facts['endsAt'])}. From then on nobody signs in by it.`,
      'Paste its metadata with the next certificate beside this one, under settings, single sign-on:',
      `  ${publicUrl}/console/`,
    ],
    break_glass: () => [
      'A sign-in without single sign-on',
      `${shown(facts['by'])} is an owner of ${shown(facts['organization'])} who gets in without its identity provider, and has just done so from ${shown(facts['ip'])} (${shown(facts['client'])}).`,
      'If none of you knows why, end their logins, and look at what they did, in the audit log:',
      `  ${publicUrl}/console/`,
    ],
    factor_reset_asked: () => [
      'Somebody asked to take your second factors away',
      `${shown(facts['by'])} of the operator asked to take every second factor of this sign-in away, since all of them are lost. Nothing happens before another administrator confirms it and 72 hours have passed. The reason given:`,
      `  ${shown(facts['reason'])}`,
      'If you did not ask for this, take it back now, and set a new password:',
      link('keep-factors'),
    ],
    factor_reset_soon: () => [
      'Your second factors will be taken away',
      `Every second factor of this sign-in is taken away on ${shown(facts['at'])}, as two administrators of the operator decided. A letter like this comes each day until then. The reason given:`,
      `  ${shown(facts['reason'])}`,
      'If you still have one of them, or did not ask for this, take it back now:',
      link('keep-factors'),
    ],
    factor_reset_cancelled: () => [
      'Your second factors stay',
      'That every second factor of this sign-in be taken away was taken back. Nothing has changed.',
    ],
    factors_reset: () => [
      'Your second factors were taken away',
      'The authenticator app, the recovery codes and the passkeys of this sign-in were taken away, and every browser was signed out. Sign in with your password, and set a second factor up at once:',
      `  ${publicUrl}/console/`,
      notYours(publicUrl),
    ],
    factor_added: () => [
      'A second factor was set up',
      'An authenticator app was set up for this sign-in. Its codes are asked for from now on.',
      notYours(publicUrl),
    ],
    factor_removed: () => [
      'A second factor was taken away',
      'The authenticator app of this sign-in was taken away, and its recovery codes with it.',
      notYours(publicUrl),
    ],
    factor_locked: () => [
      'Your second factor is locked for 15 minutes',
      'Five wrong codes came within this sign-in. Codes are taken again in 15 minutes; who sent them knows your password.',
      notYours(publicUrl),
    ],
    passkey_added: () => [
      'A passkey was added',
      'A passkey was added to this sign-in. It signs in without a password.',
      notYours(publicUrl),
    ],
    passkey_removed: () => [
      'A passkey was removed',
      'A passkey of this sign-in was removed. It signs in no more.',
      notYours(publicUrl),
    ],
    recovery_codes_made: () => [
      'You have new recovery codes',
      'Ten recovery codes were made for this sign-in. Those of before are good no more.',
      notYours(publicUrl),
    ],
    recovery_code_used: () => [
      'A recovery code was used',
      `A recovery code of this sign-in was used. ${shown(facts['left'])} are left.`,
      'If your device is lost, set up another one; if your codes run out, make new ones.',
      notYours(publicUrl),
    ],
  };
  const [subject, ...paragraphs] = words[kind]?.() ?? [];
  return subject === undefined ? null : { subject, text: `${[...paragraphs, NEVER].join('\n\n')}\n` };
}
