/**
 * The `totp` operation: the code of a shared secret at an instant.
 * Source: RFC 6238, HOTP of floor(seconds / period); RFC 4226, dynamic truncation.
 */
import { createHmac } from 'node:crypto';
import type { Request } from '../../../protocol/node/json-lines.ts';
import { integerField, refuseField, textField, wordField } from '../../../protocol/node/request-fields.ts';

const ALGORITHMS = ['SHA1', 'SHA256', 'SHA512'] as const;
/** Far beyond any clock, and exact as a number. */
const SECONDS_MAX = 2 ** 43;

/** `{code}`; SHA1, six digits and 30 seconds unless the request says otherwise. Refuses: INVALID_INPUT. */
export function totp(request: Request): object {
  const secret = secretOf(textField(request, 'secret'));
  const atSeconds = integerField(request, 'atSeconds', [0, SECONDS_MAX]);
  const digits = integerField(request, 'digits', [6, 8], 6);
  const periodSeconds = integerField(request, 'periodSeconds', [1, 3_600], 30);
  const algorithm = wordField(request, 'algorithm', ALGORITHMS, 'SHA1');
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atSeconds / periodSeconds)));
  const digest = createHmac(algorithm, secret).update(counter).digest();
  const offset = digest.at(-1)! & 0x0f;
  const code = (digest.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits;
  return { code: String(code).padStart(digits, '0') };
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Apps show the secret in groups and in either case; padding is optional, and spare bits at the end count for nothing.
 */
function secretOf(text: string): Uint8Array {
  const letters = text.replace(/[\s-]/g, '').replace(/=+$/, '').toUpperCase();
  const bytes: number[] = [];
  let bits = 0,
    value = 0;
  for (const letter of letters) {
    const five = BASE32.indexOf(letter);
    if (five === -1) refuseField('secret', 'base32');
    value = ((value << 5) | five) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return bytes.length > 0 ? Uint8Array.from(bytes) : refuseField('secret', 'base32');
}
