/** Recovery codes: 120 bits each, shown once as groups of base32, kept as SHA-256. Console A23. */
import { createHash, randomBytes } from 'node:crypto';
import { RECOVERY_CODES } from '../../../model/ports/factor-store.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const CHARS = 24;
const GROUP = 4;

/** A code as a person reads it: six groups of four. 256 is a multiple of 32, so each character is as likely. */
function newCode(): string {
  const text = [...randomBytes(CHARS)].map((byte) => BASE32[byte & 31]).join('');
  return text.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
}

export const newRecoveryCodes = (): string[] => Array.from({ length: RECOVERY_CODES }, newCode);

/** However it was typed: case, spaces and dashes say nothing. */
export const recoveryHashOf = (code: string): string =>
  createHash('sha256').update(code.replace(/[\s-]/g, '').toUpperCase()).digest('hex');
