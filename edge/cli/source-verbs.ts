/** What `flock-edge sources` can do, one function for each word. Each answers null when it is done, or a refusal. */
import { factsOf, networkOf } from '../../chains/registry.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { CHAINS, FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { ConfigurationError } from '../config.ts';
import { registerSource, reportPurge } from '../link/key-source-registration.ts';
import { KeyFile, SOURCES_MAX } from '../keystore/key-file.ts';
import { KeystoreError } from '../keystore/keystore-error.ts';
import { decodeFile, readBytes } from '../keystore/sealed-file.ts';
import { wrapOf } from '../keystore/settings.ts';
import { checkSource } from '../keystore/source-check.ts';
import { addressesOfSingleKey } from '../keystore/source-address.ts';
import { detectPath, INDEXES_DEFAULT } from '../keystore/source-paths.ts';
import { SOURCE_FAMILIES, type SignedBranch, type SourceFamily, type SourceRecord } from '../keystore/source-record.ts';
import { parseKeySource, parsePhraseSource, type ParsedSource } from '../keystore/source-secret.ts';
import { PromptEnded } from '../../protocol/node/secret-prompt.ts';
import { canonicalPath } from '../keystore/phrase-address.ts';
import { type Asked, askSecret, settingsOf, type SourceOptions, withCloud, withKeystore } from './source-session.ts';

/** Null when done. `failed`: the answer says so already. */
export type Verb = (asked: Asked) => Promise<Refusal | null | 'failed'>;

interface Word {
  readonly takes: (operands: readonly string[], options: SourceOptions) => boolean;
  readonly run: Verb;
}

const FINGERPRINT = /^[0-9a-f]{16}$/;
const isFingerprint = (operands: readonly string[]) => operands.length === 1 && FINGERPRINT.test(operands[0]!);
const COUNT_MAX = 10_000;

export const VERBS: Readonly<Record<string, Word | undefined>> = {
  import: {
    takes: ([kind, ...rest], { label, family }) =>
      rest.length === 0 &&
      label !== undefined &&
      label !== '' &&
      label.length <= 120 &&
      (kind === 'phrase'
        ? family === undefined
        : (kind === 'key' || kind === 'keys') && (SOURCE_FAMILIES as readonly unknown[]).includes(family)),
    run: (asked) => (asked.operands[0] === 'keys' ? importKeys(asked) : importSource(asked)),
  },
  list: { takes: (operands) => operands.length === 0, run: listSources },
  check: { takes: (operands) => operands.length === 0 || isFingerprint(operands), run: checkSources },
  detect: {
    takes: (operands, { chain, address }) =>
      isFingerprint(operands) && chainOf(chain) !== null && address?.length === 1,
    run: detect,
  },
  register: { takes: (operands, { chains }) => isFingerprint(operands) && chainsOf(chains) !== null, run: register },
  purge: { takes: (operands, { yes }) => isFingerprint(operands) && yes === true, run: purge },
  rewrap: {
    takes: (operands, { to }) => operands.length === 0 && (to === 'passphrase' || to === 'token'),
    run: rewrap,
  },
};

function chainOf(text: string | undefined): Chain | null {
  const chain = CHAINS.find((slug) => slug === text);
  return chain === undefined || !(SOURCE_FAMILIES as readonly string[]).includes(FAMILY_OF[chain]) ? null : chain;
}

function chainsOf(text: string | undefined): Chain[] | null {
  const chains = (text ?? '').split(',').map((part) => chainOf(part.trim()));
  return chains.includes(null) ? null : (chains as Chain[]);
}

async function importSource(asked: Asked): Promise<null> {
  const {
    operands: [kind],
    options: { label, family, own = false },
  } = asked;
  return withKeystore(asked, true, async (file) => {
    const parsed = kind === 'phrase' ? await askPhrase(asked) : await askKey(asked, family as SourceFamily);
    try {
      const { fingerprint, keys, secret } = parsed;
      const added = await file.add(
        { fingerprint, kind: kind as 'phrase' | 'key', label: label!, own, keys, createdAt: new Date().toISOString() },
        secret,
      );
      asked.print(viewOf(added));
    } finally {
      parsed.secret.fill(0);
    }
    return null;
  });
}

/** As many keys as there are lines of standard input: all of them, or none. Migration M-K6. */
async function importKeys(asked: Asked): Promise<null> {
  const { family, label } = asked.options;
  if (asked.prompt.interactive)
    throw new ConfigurationError(['keys are lines of standard input: pipe a file, its first line the passphrase']);
  return withKeystore(asked, true, async (file) => {
    const read: ParsedSource[] = [];
    try {
      for (let line = 1; await takeKey(asked, family as SourceFamily, line, read); line += 1)
        if (read.length > SOURCES_MAX) throw new KeystoreError('SOURCES_FULL');
      const createdAt = new Date().toISOString();
      const added = await file.addAll(
        read.map(({ fingerprint, keys, secret }) => ({
          source: { fingerprint, kind: 'key', label: label!, own: false, keys, createdAt },
          secret,
        })),
      );
      for (const one of added) asked.print(viewOf(one));
      asked.print({ read: read.length, added: added.length });
    } finally {
      for (const { secret } of read) secret.fill(0);
    }
    return null;
  });
}

/** The key of a line, unless it is empty. False at the end. Throws: KeystoreError with the number of the line. */
async function takeKey({ prompt }: Asked, family: SourceFamily, line: number, read: ParsedSource[]): Promise<boolean> {
  const key = await prompt.ask('').catch((error: unknown) => {
    if (error instanceof PromptEnded && error.isEnd) return null;
    throw error;
  });
  if (key === null) return false;
  try {
    if (key.toString('utf8').trim() !== '') read.push(parseKeySource(family, key.toString('utf8')));
    return true;
  } catch (error) {
    if (error instanceof KeystoreError)
      throw new KeystoreError(error.code, `line ${line} of the keys; nothing was added`);
    throw error;
  } finally {
    key.fill(0);
  }
}

async function askPhrase({ prompt, options }: Asked): Promise<ParsedSource> {
  const phrase = await prompt.ask('recovery phrase: ');
  const passphrase = options['bip39-passphrase'] === true ? await prompt.ask('BIP-39 passphrase: ') : Buffer.alloc(0);
  try {
    return parsePhraseSource(phrase.toString('utf8'), passphrase.toString('utf8'));
  } finally {
    phrase.fill(0);
    passphrase.fill(0);
  }
}

async function askKey({ prompt }: Asked, family: SourceFamily): Promise<ParsedSource> {
  const key = await prompt.ask(`private key (${family}): `);
  try {
    return parseKeySource(family, key.toString('utf8'));
  } finally {
    key.fill(0);
  }
}

function listSources(asked: Asked): Promise<null> {
  return withKeystore(asked, false, async (file) => {
    file.sources.forEach((source) => asked.print(viewOf(source)));
    return null;
  });
}

function checkSources(asked: Asked): Promise<null | 'failed'> {
  return withKeystore(asked, false, async (file) => {
    const [fingerprint] = asked.operands;
    const chosen = fingerprint === undefined ? file.sources : [sourceOf(file, fingerprint)];
    let failed = false;
    for (const source of chosen) {
      if (source.purgedAt !== null) {
        asked.print({
          fingerprint: source.fingerprint,
          label: source.label,
          signs: false,
          reason: 'purged',
          purgedAt: source.purgedAt,
        });
        continue;
      }
      const check = file.withSecret(source.fingerprint, (secret) => checkSource(source, secret));
      failed ||= check.failed.length > 0;
      asked.print({ fingerprint: source.fingerprint, label: source.label, signs: check.failed.length === 0, ...check });
    }
    return failed ? 'failed' : null;
  });
}

function detect(asked: Asked): Promise<null> {
  const {
    operands: [fingerprint],
    options,
  } = asked;
  const chain = chainOf(options.chain)!,
    address = canonical(chain, options.address![0]!);
  return withKeystore(asked, false, async (file) => {
    asked.print({
      chain,
      address,
      ...pathTo(file, sourceOf(file, fingerprint!), chain, address, numberOf(options.indexes, INDEXES_DEFAULT)),
    });
    return null;
  });
}

/** Throws: KeystoreError PATH_UNKNOWN. */
function pathTo(
  file: KeyFile,
  { fingerprint, kind, keys }: SourceRecord,
  chain: Chain,
  address: string,
  indexes: number,
) {
  const family = FAMILY_OF[chain] as SourceFamily;
  if (kind === 'key') {
    const forms = keys.filter((key) => key.family === family).flatMap(addressesOfSingleKey);
    if (forms.includes(address)) return { path: null, wallets: 'single key' };
    throw new KeystoreError('PATH_UNKNOWN');
  }
  const found = file.withSecret(fingerprint, (seed) => detectPath(seed, family, address, indexes));
  if (found === null) throw new KeystoreError('PATH_UNKNOWN', `${indexes} indexes of each were tried`);
  return found;
}

async function register(asked: Asked): Promise<Refusal | null> {
  const {
    operands: [fingerprint],
    options,
  } = asked;
  const chains = chainsOf(options.chains)!;
  return withKeystore(asked, false, async (file, settings) => {
    const source = sourceOf(file, fingerprint!);
    const branches = branchesOf(source, options);
    const paths = branches.length > 0 ? [] : pathsOf(file, source, chains, options);
    const registered = await withCloud(asked, file, (upstream, environment) =>
      registerSource(file, upstream, source.fingerprint, {
        environment,
        chains,
        paths,
        branches,
        keystore: settings.token === null ? 'file' : 'pkcs11',
      }),
    );
    if (isRefusal(registered)) return registered;
    asked.print({ fingerprint: source.fingerprint, ...registered });
    return null;
  });
}

/**
 * Paths of the EVM addresses that are chosen: by known addresses, or by a path and a count. Throws: ConfigurationError.
 */
function pathsOf(
  file: KeyFile,
  source: SourceRecord,
  chains: readonly Chain[],
  options: SourceOptions,
): (string | null)[] {
  const evm = chains.find((chain) => FAMILY_OF[chain] === 'evm');
  if (evm === undefined) return [];
  if (source.kind === 'key') return [null];
  const { address = [], path, count, from, indexes } = options;
  const detected = address.map(
    (text) => pathTo(file, source, evm, canonical(evm, text), numberOf(indexes, INDEXES_DEFAULT)).path,
  );
  if (path === undefined) {
    if (detected.length === 0)
      throw new ConfigurationError(['--path with --count, or --address: which addresses of the phrase?']);
    return detected;
  }
  const first = numberOf(from, 0);
  const template = path.includes('i') ? path : `${path}/i`;
  const counted = Array.from({ length: numberOf(count, 1) }, (_, at) =>
    canonicalPath(template.replace('i', String(first + at))),
  );
  if (counted.includes(null))
    throw new ConfigurationError(["--path: expected a path such as m/44'/60'/0'/0, or one with i for the index"]);
  return [...detected, ...counted];
}

/** Highest index of a branch where none is given. */
const BRANCH_TO = 999_999;

/** The branch that is chosen. Throws: ConfigurationError. */
function branchesOf({ kind }: SourceRecord, { branch, to, path, address }: SourceOptions): SignedBranch[] {
  if (branch === undefined) return [];
  const canonicalBranch = canonicalPath(branch);
  const last = to === undefined ? BRANCH_TO : /^(?:0|[1-9][0-9]{0,9})$/.test(to) ? Number(to) : -1;
  if (kind === 'key' || canonicalBranch === null || path !== undefined || address !== undefined)
    throw new ConfigurationError([
      "--branch: expected a path of a phrase such as m/44'/60'/0'/0, without --path and --address",
    ]);
  if (last < 0 || last > 0x7fff_ffff) throw new ConfigurationError(['--to: the highest index, up to 2147483647']);
  return [{ path: canonicalBranch, to: last }];
}

function purge(asked: Asked): Promise<Refusal | null> {
  const [fingerprint] = asked.operands;
  return withKeystore(asked, false, async (file) => {
    sourceOf(file, fingerprint!);
    const purged = await file.purge(fingerprint!, Date.now());
    asked.print(viewOf(purged));
    if (purged.sourceId === null || purged.purgeTold) return null;
    asked.say('the key material is gone; reporting it to the cloud');
    return withCloud(asked, file, (upstream, environment) => reportPurge(file, upstream, purged, environment));
  });
}

/** What opens it now is asked first, then what shall open it. */
async function rewrap({ options, env, prompt, say }: Asked): Promise<null> {
  const settings = settingsOf(env, options);
  const { token } = settings;
  const isToken = decodeFile(readBytes(settings.file)).wrapped.kind === 'pkcs11';
  if (token === null && (isToken || options.to === 'token'))
    throw new ConfigurationError(['EDGE_PKCS11_MODULE: which token?']);
  const from = { ...settings, token: isToken ? token : null };
  const to = { ...settings, token: options.to === 'token' ? token : null };
  const secret = await askSecret(prompt, from, false);
  let next: Buffer = Buffer.alloc(0),
    file: KeyFile | null = null;
  try {
    file = await KeyFile.open(settings.file, wrapOf(from, secret));
    next = await askSecret(prompt, to, true);
    await file.rewrap(wrapOf(to, next));
  } finally {
    for (const buffer of [secret, next]) buffer.fill(0);
    file?.close();
  }
  say('done; restart the edges that have this keystore open, and delete older copies of it');
  return null;
}

function sourceOf(file: KeyFile, fingerprint: string): SourceRecord {
  return file.find(fingerprint) ?? unknownSource();
}

function unknownSource(): never {
  throw new KeystoreError('SOURCE_UNKNOWN');
}

/** The address as its chain writes it. Throws: ConfigurationError. */
function canonical(chain: Chain, text: string): string {
  const parsed = factsOf(chain).parseAddress(networkOf(chain), text);
  if (isRefusal(parsed)) throw new ConfigurationError([`--address: is no address of ${chain}`]);
  return parsed.canonical;
}

function numberOf(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1;
  if (value < 0 || value > COUNT_MAX)
    throw new ConfigurationError([`--count, --from, --indexes: whole numbers up to ${COUNT_MAX}`]);
  return value;
}

/** What is public of a source. */
function viewOf({
  fingerprint,
  kind,
  label,
  own,
  createdAt,
  purgedAt,
  keys,
  addresses,
  branches,
  sourceId,
}: SourceRecord): object {
  return {
    fingerprint,
    kind,
    label,
    own,
    createdAt,
    purgedAt,
    keySourceId: sourceId,
    keys: keys.map(({ family, path, xpub, publicKey }) => ({
      family,
      path,
      ...(xpub === null ? { publicKey } : { xpub }),
    })),
    addresses: addresses.map(({ chain, path, address }) => ({ chain, path, address })),
    ...(branches === undefined ? {} : { branches }),
  };
}
