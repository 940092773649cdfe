/** Where the keystore is and what opens it. Values are never echoed. */
import { z } from 'zod';
import { readSecret } from '../process/secret-setting.ts';
import { KeyFile } from './key-file.ts';
import type { KeyWrap } from './key-wrap.ts';
import { createPassphraseWrap } from './passphrase-wrap.ts';
import type { TokenSettings } from './pkcs11.ts';
import { createPkcs11Wrap } from './pkcs11-wrap.ts';

const schema = z.object({
  EDGE_KEYSTORE_FILE: z.string().optional(),
  /** A vendor's shared library; with it the keystore is opened by a token instead of a passphrase. */
  EDGE_PKCS11_MODULE: z.string().optional(),
  EDGE_PKCS11_TOKEN: z.string().default('flock'),
  EDGE_PKCS11_KEY: z.string().max(200).default('flock-edge'),
});

/** Names of settings that hold no secret. */
export const KEYSTORE_NAMES = Object.keys(schema.shape);

/** Names of settings that hold a secret and leave the environment once they were read. */
export const KEYSTORE_SECRETS = ['EDGE_KEYSTORE_PASSPHRASE', 'EDGE_PKCS11_PIN'] as const;

export interface KeystoreSettings {
  readonly file: string;
  /** Null: a passphrase opens it. */
  readonly token: TokenSettings | null;
  /** Passphrase or PIN; null where it is to be asked for. */
  readonly secret: string | null;
}

/** The keystore's settings, or null when there is no keystore. Problems are appended, without values. */
export function readKeystoreSettings(
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): KeystoreSettings | null {
  const parsed = schema.safeParse(env);
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`));
    return null;
  }
  const passphrase = readSecret(env, 'EDGE_KEYSTORE_PASSPHRASE', problems);
  const pin = readSecret(env, 'EDGE_PKCS11_PIN', problems);
  const {
    EDGE_KEYSTORE_FILE: file,
    EDGE_PKCS11_MODULE: module,
    EDGE_PKCS11_TOKEN: token,
    EDGE_PKCS11_KEY: key,
  } = parsed.data;
  if (file === undefined) {
    if (module !== undefined) problems.push('EDGE_KEYSTORE_FILE: is needed where EDGE_PKCS11_MODULE is set');
    return null;
  }
  return {
    file,
    token: module === undefined ? null : { module, token, key },
    secret: (module === undefined ? passphrase : pin) ?? null,
  };
}

/** As for a process that nobody can ask: the passphrase or PIN must be there. */
export function readUnattendedKeystore(
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): KeystoreSettings | null {
  const settings = readKeystoreSettings(env, problems);
  if (settings === null || settings.secret !== null) return settings;
  const name = settings.token === null ? 'EDGE_KEYSTORE_PASSPHRASE' : 'EDGE_PKCS11_PIN';
  problems.push(`${name}_FILE or ${name}: is needed to open EDGE_KEYSTORE_FILE`);
  return null;
}

/** What opens a keystore; `secret` is a passphrase or a PIN in UTF-8 and stays the caller's to zero. */
export function wrapOf({ token }: Pick<KeystoreSettings, 'token'>, secret: Buffer): KeyWrap {
  return token === null ? createPassphraseWrap(secret) : createPkcs11Wrap(token, secret);
}

/** Opens the keystore of a process that has its secret. Throws: KeystoreError. */
export async function openKeystore(settings: KeystoreSettings): Promise<KeyFile> {
  const secret = Buffer.from(settings.secret ?? '');
  try {
    return await KeyFile.open(settings.file, wrapOf(settings, secret));
  } finally {
    secret.fill(0);
  }
}
