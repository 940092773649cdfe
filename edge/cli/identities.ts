/**
 * `npm run -s flock-edge -- identities list | add | forget FINGERPRINT`: the public keys of former phrases in the data
 * directory, by which payments from before a rotation are still known. It contacts nothing; of a phrase that is asked
 * for, only public keys are kept. A running edge reads them at its next start. Answers are JSON lines on standard
 * output. Decision 55.
 */
import { parseArgs } from 'node:util';
import { networkOf } from '../../chains/registry.ts';
import { parseXpub } from '../../chains/secp256k1.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { CHAINS, FAMILY_OF } from '../../protocol/slugs.ts';
import type { Environ } from '../config.ts';
import { curveOf } from '../keystore/keys.ts';
import { KeystoreError } from '../keystore/keystore-error.ts';
import { createPhraseKeystore } from '../keystore/phrase-keystore.ts';
import { parsePhraseSource } from '../keystore/source-secret.ts';
import {
  identityOf,
  keepIdentities,
  KEPT_MAX,
  keptIdentities,
  UNREADABLE,
  type KeptIdentity,
} from '../signing/identity-keys.ts';
import { StorageFailed } from '../storage/failed.ts';
import { openStorage, type Storage } from '../storage/storage.ts';
import type { Output } from './local-keys.ts';
import { looksSecret, SECRET_ARGUMENT } from './secret-arguments.ts';
import { createSecretPrompt, PromptEnded, type SecretPrompt } from '../../protocol/node/secret-prompt.ts';

const USAGE = `usage: flock-edge identities list
       flock-edge identities add [--bip39-passphrase]       asks for a former phrase, and keeps its public keys only
       flock-edge identities add --fingerprint FINGERPRINT --xpub FAMILY=XPUB [--xpub FAMILY=XPUB]…
       flock-edge identities forget FINGERPRINT | --all     payments to its addresses are relayed no more
   --data-dir DIR      the edge's data directory (EDGE_DATA_DIR); run it for the directory of each replica
   secrets             asked for without echo, or one line each on standard input; never arguments
   Take keys from your own phrase (flock-edge keys --jsonl), never from the cloud. Start the edge again afterwards.`;

const OPTIONS = {
  'data-dir': { type: 'string' },
  'bip39-passphrase': { type: 'boolean' },
  fingerprint: { type: 'string' },
  xpub: { type: 'string', multiple: true },
  all: { type: 'boolean' },
} as const;
const FINGERPRINT = /^[0-9a-f]{16}$/;
const HARDENED = 0x8000_0000;

type Asked =
  | { readonly verb: 'list' }
  | { readonly verb: 'add'; readonly hasPassphrase: boolean }
  | { readonly verb: 'add'; readonly fingerprint: string; readonly xpubs: readonly string[] }
  /** Null: all of them, also where the record cannot be read. */
  | { readonly verb: 'forget'; readonly fingerprint: string | null };

/** Runs one command; answers the exit code: 0 done, 1 refused, 2 not understood. */
export async function identitiesCommand(
  args: readonly string[],
  env: Environ,
  out: Output,
  err: Output,
  prompt: () => SecretPrompt = () => createSecretPrompt(process.stdin, process.stderr),
): Promise<number> {
  if (looksSecret(args)) {
    err.write(`${SECRET_ARGUMENT}\n`);
    return 2;
  }
  const parsed = parse(args);
  if (parsed === null) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  const dataDir = parsed.dataDir ?? (env['EDGE_DATA_DIR'] || null);
  if (dataDir === null) {
    err.write('which edge? Set EDGE_DATA_DIR to what the edge is started with, or give --data-dir DIR\n');
    return 2;
  }
  try {
    return await answered(parsed.asked, dataDir, { out, err, prompt });
  } catch (error) {
    if (!(error instanceof StorageFailed)) throw error;
    err.write(`${error.message}: ${error.next}\n`);
    return 1;
  }
}

interface Ports {
  readonly out: Output;
  readonly err: Output;
  readonly prompt: () => SecretPrompt;
}

async function answered(asked: Asked, dataDir: string, { out, err, prompt }: Ports): Promise<number> {
  const added = asked.verb === 'add' ? await identityFrom(asked, prompt) : null;
  const answer = added !== null && isRefusal(added) ? added : inDirectory(dataDir, asked, added);
  if (isRefusal(answer)) {
    err.write(`${answer.code}: ${answer.message}\n`);
    return 1;
  }
  for (const line of answer) out.write(`${JSON.stringify(line)}\n`);
  if (asked.verb !== 'list') err.write('a running edge goes on with what it read at its start: start it again\n');
  return 0;
}

function inDirectory(dataDir: string, asked: Asked, added: KeptIdentity | null): readonly object[] | Refusal {
  const storage = openStorage(dataDir);
  try {
    return storage.transaction(() => {
      if (added !== null) return add(storage, added);
      return asked.verb === 'forget' ? forget(storage, asked.fingerprint) : list(storage);
    });
  } finally {
    storage.close();
  }
}

function list(storage: Storage): readonly object[] | Refusal {
  const kept = keptIdentities(storage);
  if (kept === null) return unreadable();
  const present = presentOf(kept);
  return kept.map((one) => ({
    fingerprint: one.fingerprint,
    families: Object.keys(one.keys),
    is: one === present ? 'present' : one.added === true ? 'added' : 'former',
  }));
}

function add(storage: Storage, identity: KeptIdentity): readonly object[] | Refusal {
  const { fingerprint } = identity,
    kept = keptIdentities(storage);
  if (kept === null) return unreadable();
  const known = kept.find((one) => one.fingerprint === fingerprint);
  // What the edge derived of its own phrase is no command's to change.
  if (known !== undefined && known.added !== true) return list(storage);
  const others = kept.filter((one) => one !== known);
  if (others.length >= KEPT_MAX)
    return refuse(
      'CONFLICT',
      {},
      `${KEPT_MAX} phrases are kept: forget one with \`flock-edge identities forget\` first`,
    );
  // Before the others: the newest one is that of the newest start.
  keepIdentities(storage, [{ ...identity, added: true }, ...others]);
  return list(storage);
}

function forget(storage: Storage, fingerprint: string | null): readonly object[] | Refusal {
  if (fingerprint === null) {
    keepIdentities(storage, []);
    return [];
  }
  const kept = keptIdentities(storage);
  if (kept === null) return unreadable();
  const known = kept.find((one) => one.fingerprint === fingerprint);
  if (known === undefined)
    return refuse('NOT_FOUND', {}, 'no phrase of this fingerprint is kept: see `flock-edge identities list`');
  if (known === presentOf(kept))
    return refuse(
      'CONFLICT',
      {},
      'the edge was started with this phrase last, and keeps it at each start: start it with another one first',
    );
  keepIdentities(
    storage,
    kept.filter((one) => one !== known),
  );
  return list(storage);
}

const unreadable = (): Refusal => refuse('CONFLICT', {}, `EDGE_DATA_DIR: ${UNREADABLE}`);

const presentOf = (kept: readonly KeptIdentity[]): KeptIdentity | undefined =>
  kept.findLast(({ added }) => added !== true);

/** Public keys of the phrase that is asked for, or the given ones. */
async function identityFrom(
  asked: Extract<Asked, { verb: 'add' }>,
  prompt: () => SecretPrompt,
): Promise<KeptIdentity | Refusal> {
  if ('xpubs' in asked) return identityOfKeys(asked.fingerprint, asked.xpubs);
  const opened = prompt();
  const secrets: Buffer[] = [];
  try {
    secrets.push(await opened.ask('former recovery phrase: '));
    if (asked.hasPassphrase) secrets.push(await opened.ask('BIP-39 passphrase: '));
    const [phrase = '', passphrase = ''] = secrets.map((secret) => secret.toString('utf8'));
    const keystore = createPhraseKeystore(parsePhraseSource(phrase, passphrase).secret as Buffer);
    try {
      return identityOf(keystore);
    } finally {
      keystore.stop();
    }
  } catch (error) {
    if (error instanceof KeystoreError || error instanceof PromptEnded)
      return refuse('INVALID_INPUT', { field: 'phrase' }, `phrase: ${error.message}`);
    throw error;
  } finally {
    for (const secret of secrets) secret.fill(0);
    opened.close();
  }
}

function identityOfKeys(fingerprint: string, xpubs: readonly string[]): KeptIdentity | Refusal {
  const keys: Record<string, string> = {};
  for (const text of xpubs) {
    const [, name = '', key = ''] = /^([a-z]+)=(.+)$/.exec(text) ?? [];
    const chain = CHAINS.find((slug) => FAMILY_OF[slug] === name && curveOf(slug) === 'secp256k1');
    if (chain === undefined || keys[name] !== undefined)
      return refuse('INVALID_INPUT', { field: 'xpub' }, 'xpub: FAMILY=XPUB, once for each of btc, evm, tron, xrp');
    const { accountPath } = networkOf(chain),
      parsed = parseXpub(key);
    if (isRefusal(parsed) || parsed.depth !== accountPath.split('/').length - 1 || parsed.index !== HARDENED)
      return refuse('INVALID_INPUT', { field: 'xpub' }, `xpub: of ${name} the extended public key at ${accountPath}`);
    keys[name] = parsed.xpub;
  }
  return { fingerprint, keys };
}

function parse(args: readonly string[]): { asked: Asked; dataDir: string | undefined } | null {
  try {
    const {
      positionals: [verb, ...operands],
      values: { 'data-dir': dataDir, ...options },
    } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const asked = askedOf(verb, operands, options);
    return asked === null ? null : { asked, dataDir };
  } catch {
    return null;
  }
}

interface Options {
  readonly 'bip39-passphrase'?: boolean | undefined;
  readonly fingerprint?: string | undefined;
  readonly xpub?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
}

function askedOf(verb: string | undefined, operands: readonly string[], options: Options): Asked | null {
  const { 'bip39-passphrase': hasPassphrase, fingerprint, xpub, all } = options;
  const given = Object.keys(options).length;
  if (verb === 'list') return operands.length + given === 0 ? { verb } : null;
  if (verb === 'forget') {
    if (all === true) return operands.length === 0 && given === 1 ? { verb, fingerprint: null } : null;
    const [named = ''] = operands;
    return operands.length === 1 && given === 0 && FINGERPRINT.test(named) ? { verb, fingerprint: named } : null;
  }
  if (verb !== 'add' || operands.length > 0 || all === true) return null;
  if (fingerprint === undefined && xpub === undefined) return { verb, hasPassphrase: hasPassphrase === true };
  if (fingerprint === undefined || xpub === undefined || hasPassphrase === true) return null;
  return FINGERPRINT.test(fingerprint) ? { verb, fingerprint, xpubs: xpub } : null;
}
