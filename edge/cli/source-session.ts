/** What the words of `flock-edge sources` have in common: the opened keystore, the questions, the cloud. */
import type { Environment } from '../../protocol/slugs.ts';
import { checkWay, ConfigurationError, type Environ, environmentOfKey } from '../config.ts';
import { createIdentity } from '../link/identity.ts';
import { ownSeed } from '../keystore/key-sources.ts';
import { identityKeyPair, isMnemonic, seedOf } from '../keystore/keys.ts';
import { KeyFile } from '../keystore/key-file.ts';
import { KeystoreError } from '../keystore/keystore-error.ts';
import { fileMark } from '../keystore/sealed-file.ts';
import { type KeystoreSettings, readKeystoreSettings, wrapOf } from '../keystore/settings.ts';
import { readSecret } from '../process/secret-setting.ts';
import { createUpstream, type Upstream } from '../link/upstream.ts';
import type { SecretPrompt } from '../../protocol/node/secret-prompt.ts';
import type { parseArgs } from 'node:util';

export const OPTIONS = {
  label: { type: 'string' },
  family: { type: 'string' },
  'bip39-passphrase': { type: 'boolean' },
  own: { type: 'boolean' },
  chain: { type: 'string' },
  chains: { type: 'string' },
  address: { type: 'string', multiple: true },
  indexes: { type: 'string' },
  path: { type: 'string' },
  branch: { type: 'string' },
  count: { type: 'string' },
  from: { type: 'string' },
  yes: { type: 'boolean' },
  to: { type: 'string' },
  keystore: { type: 'string' },
} as const;

export interface Output {
  write(text: string): unknown;
}
export interface Asked {
  readonly operands: readonly string[];
  readonly options: SourceOptions;
  readonly env: Environ;
  readonly prompt: SecretPrompt;
  /** One JSON line of the answer. */
  readonly print: (value: object) => void;
  /** A line for people. */
  readonly say: (text: string) => void;
}
/**
 * Opens the keystore, makes a new one where an import may, and closes it. Throws: KeystoreError, ConfigurationError.
 */
export async function withKeystore<T>(
  asked: Asked,
  mayCreate: boolean,
  use: (file: KeyFile, settings: KeystoreSettings) => Promise<T>,
): Promise<T> {
  const { env, options, prompt } = asked;
  const settings = settingsOf(env, options);
  const isNew = mayCreate && fileMark(settings.file) === null;
  const secret = settings.secret === null ? await askSecret(prompt, settings, isNew) : Buffer.from(settings.secret);
  let file: KeyFile | null = null;
  try {
    const wrap = wrapOf(settings, secret);
    file = isNew ? await KeyFile.create(settings.file, wrap) : await KeyFile.open(settings.file, wrap);
    secret.fill(0);
    return await use(file, settings);
  } finally {
    secret.fill(0);
    file?.close();
  }
}

/** Throws: ConfigurationError. */
export function settingsOf(env: Environ, { keystore }: SourceOptions): KeystoreSettings {
  const problems: string[] = [];
  const settings = readKeystoreSettings(
    { ...withoutEmpty(env), ...(keystore === undefined ? {} : { EDGE_KEYSTORE_FILE: keystore }) },
    problems,
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
  if (settings === null) throw new ConfigurationError(['EDGE_KEYSTORE_FILE or --keystore: where is the keystore?']);
  return settings;
}

/** Asked twice by a terminal when it is new: a passphrase that was mistyped opens nothing. */
export async function askSecret(prompt: SecretPrompt, { token }: KeystoreSettings, isNew: boolean): Promise<Buffer> {
  if (token !== null) return prompt.ask('PIN of the token: ');
  const secret = await prompt.ask(isNew ? 'passphrase of the new keystore: ' : 'passphrase of the keystore: ');
  if (!isNew || !prompt.interactive) return secret;
  const again = await prompt.ask('once more: ');
  const same = again.equals(secret);
  again.fill(0);
  if (!same) throw new KeystoreError('KEYSTORE_LOCKED', 'the two passphrases differ');
  return secret;
}

/** The cloud, as this edge. Throws: ConfigurationError, KeystoreError when nobody has the edge's own phrase. */
export async function withCloud<T>(
  { env }: Asked,
  file: KeyFile,
  use: (upstream: Upstream, environment: Environment) => Promise<T>,
): Promise<T> {
  const problems: string[] = [];
  const present = withoutEmpty(env);
  const { CLOUD_URL: cloudUrl } = present;
  const apiKey = readSecret(present, 'API_KEY', problems)?.trim();
  if (apiKey === undefined && problems.length === 0) problems.push('API_KEY: is needed: flk_live_… or flk_test_…');
  const environment = environmentOfKey(apiKey, problems);
  if (cloudUrl === undefined || !URL.canParse(cloudUrl)) problems.push('CLOUD_URL: must be an http or https address');
  else if (environment === 'live' && present['EDGE_PLAIN_HTTP'] !== 'allowed') checkWay(cloudUrl, problems);
  const mnemonic = readSecret(present, 'MNEMONIC', problems),
    passphrase = readSecret(present, 'MNEMONIC_PASSPHRASE', problems);
  const words = mnemonic?.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ');
  if (words !== undefined && !isMnemonic(words))
    problems.push('MNEMONIC: is no valid BIP-39 phrase (words or checksum)');
  if (problems.length > 0) throw new ConfigurationError(problems);
  const seed = words === undefined ? ownSeed(file) : seedOf(words, passphrase ?? '');
  const { privateKey } = identityKeyPair(seed);
  const identity = createIdentity(privateKey);
  privateKey.fill(0);
  seed.fill(0);
  const upstream = createUpstream({
    cloudUrl: cloudUrl!.replace(/\/+$/, ''),
    apiKey: apiKey!,
    identity,
    nowMs: Date.now,
  });
  try {
    return await use(upstream, environment!);
  } finally {
    await upstream.close();
  }
}

function withoutEmpty(env: Environ): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== '')) as Record<
    string,
    string
  >;
}

export type SourceOptions = ReturnType<
  typeof parseArgs<{ args: string[]; options: typeof OPTIONS; allowPositionals: true }>
>['values'];
