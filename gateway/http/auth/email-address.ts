/** Emails as they name users: one spelling for each mailbox, and no folding beyond it. Console A4. */
import { domainToASCII } from 'node:url';

const EMAIL_CHARS_MAX = 254;

/** The email as it is stored: trimmed, lowercase in ASCII, its domain as A-label; null for a text that is none. */
export function emailOf(text: string): string | null {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const [local, domain] = [trimmed.slice(0, at), domainToASCII(trimmed.slice(at + 1))];
  // A-Z alone: what other letters have as their small form is another letter for some mail servers.
  const email = `${local.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}@${domain}`;
  const isOne =
    at >= 1 && /^[a-z0-9.-]+\.[a-z0-9-]+$|^localhost$/.test(domain) && /^[^\s@\p{Cc}\p{Cf}<>",;:\\]+$/u.test(local);
  return isOne && email.length <= EMAIL_CHARS_MAX && email === email.toLowerCase() ? email : null;
}
