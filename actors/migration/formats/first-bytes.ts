/** Files that are no text, by their first bytes. Nothing is ever unpacked: a few kilobytes can hold gigabytes. */

/** The longest signature. */
export const FIRST_BYTES = 16;

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const SIGNATURES: readonly (readonly [name: string, signature: Buffer])[] = [
  ['zip', bytes('50 4b 03 04')], // xlsx and ods too
  ['zip', bytes('50 4b 05 06')], // an empty one
  ['zip', bytes('50 4b 07 08')], // one of several parts
  ['gzip', bytes('1f 8b')],
  ['bzip2', Buffer.from('BZh')],
  ['xz', bytes('fd 37 7a 58 5a 00')],
  ['zstd', bytes('28 b5 2f fd')],
  ['7z', bytes('37 7a bc af 27 1c')],
  ['rar', Buffer.from('Rar!\u001a\u0007')],
  ['pdf', Buffer.from('%PDF-')],
  ['ole', bytes('d0 cf 11 e0 a1 b1 1a e1')], // xls
  ['sqlite', Buffer.from('SQLite format 3\u0000')],
  ['utf-32', bytes('ff fe 00 00')], // before utf-16: it begins alike
  ['utf-32', bytes('00 00 fe ff')],
  ['utf-16', bytes('ff fe')],
  ['utf-16', bytes('fe ff')],
];

/** Name of what a file is instead of text, null for one that may be text. A zero byte is `binary`. */
export function notText(start: Uint8Array): string | null {
  const found = SIGNATURES.find(([, signature]) => signature.equals(start.subarray(0, signature.length)));
  return found?.[0] ?? (start.subarray(0, FIRST_BYTES).includes(0) ? 'binary' : null);
}
