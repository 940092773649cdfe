/** Keystores of a test, with a cheap scrypt: what is tested is not how long a guess takes. */
import { join } from 'node:path';
import { KeyFile } from '../../../edge/keystore/key-file.ts';
import type { KeyWrap } from '../../../edge/keystore/key-wrap.ts';
import { createPassphraseWrap } from '../../../edge/keystore/passphrase-wrap.ts';
import { parseKeySource, parsePhraseSource, type ParsedSource } from '../../../edge/keystore/source-secret.ts';
import type { SourceRecord } from '../../../edge/keystore/source-record.ts';
import { newDirectory } from './disk.ts';

export const PASSPHRASE = 'correct horse battery staple';
/** Published test material of BIP-39 (Trezor's vectors): never send money to it. */
export const OLD_PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
/** Its first addresses at m/44'/60'/0'/0. */
export const OLD_FIRST = '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25';
/** Cheapest cost that a keystore may have. */
export const CHEAP = { n: 2 ** 14, r: 1, p: 1 } as const;

export const wrapWith = (passphrase = PASSPHRASE): KeyWrap => createPassphraseWrap(Buffer.from(passphrase), CHEAP);
export const newKeystorePath = (): string => join(newDirectory(), 'keys.flock');

/** Adds a parsed source. */
export async function addTo(
  file: KeyFile,
  { fingerprint, keys, secret }: ParsedSource,
  more: Partial<Pick<SourceRecord, 'label' | 'own' | 'kind'>> = {},
): Promise<SourceRecord> {
  return file.add(
    {
      fingerprint,
      keys,
      kind: 'phrase',
      label: 'old wallet',
      own: false,
      createdAt: new Date(0).toISOString(),
      ...more,
    },
    secret,
  );
}

/** A keystore on the disk with one phrase and one EVM key. */
export async function filledKeystore(
  path = newKeystorePath(),
  wrap = wrapWith(),
): Promise<{ path: string; file: KeyFile; phrase: SourceRecord; key: SourceRecord }> {
  const file = await KeyFile.create(path, wrap);
  const phrase = await addTo(file, parsePhraseSource(OLD_PHRASE, ''));
  const key = await addTo(file, parseKeySource('evm', '11'.repeat(32)), { kind: 'key', label: 'hot key' });
  return { path, file, phrase, key };
}
