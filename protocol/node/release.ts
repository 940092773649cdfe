/**
 * The folder of a release: what it holds, and whether it is whole and of a key. Two files are signed with Ed25519,
 * each beside its signature of 64 bytes, so that `openssl pkeyutl` checks them too: SHA256SUMS, which lists every
 * other file, and the provenance, an in-toto statement of what the files were made of. Ecosystem X72.
 */
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

export const SUMS = 'SHA256SUMS';
export const PROVENANCE = 'provenance.json';
export const BILL = 'sbom.cdx.json';
export const SIGNATURE = '.sig';
/** Source: in-toto attestation framework, Statement v1; slsa.dev, provenance v1. */
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://slsa.dev/provenance/v1';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const LINE = /^([0-9a-f]{64}) {2}(\S+)$/;
/** Far above a list of the files of a release. */
const TEXT_BYTES_MAX = 1 << 20;
const SIGNATURE_BYTES = 64;

/** `signature`: it is not of this key; `malformed`: it is no such file; `unlisted`: SHA256SUMS does not have it. */
export interface ReleaseProblem {
  readonly file: string;
  readonly problem: 'missing' | 'changed' | 'unlisted' | 'signature' | 'malformed';
}

export interface ReleaseFound {
  readonly version: string | null;
  readonly commit: string | null;
  /** Files whose bytes are those of SHA256SUMS. */
  readonly files: number;
  /** Empty: the release is whole and of the key. */
  readonly problems: readonly ReleaseProblem[];
}

/** Throws: RangeError for what is no public key of Ed25519. */
export function releaseKeyOf(pem: string): KeyObject {
  let key: KeyObject | null = null;
  if (pem.includes('-----BEGIN PUBLIC KEY-----')) {
    try {
      key = createPublicKey(pem);
    } catch {
      key = null;
    }
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw new RangeError('no public key of Ed25519 as PEM');
  return key;
}

/** What SHA256SUMS lists, by name; null where a line of it is none. */
export function readSums(text: string): ReadonlyMap<string, string> | null {
  if (!text.endsWith('\n')) return null;
  const rows = text
    .slice(0, -1)
    .split('\n')
    .map((line) => LINE.exec(line));
  const sums = new Map<string, string>();
  for (const row of rows) {
    const [, sum, name] = row ?? [];
    if (name === undefined || !NAME.test(name) || sums.has(name)) return null;
    sums.set(name, sum!);
  }
  return sums;
}

export async function sumOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Looks at every file. What is not signed is believed in nothing: it is compared with what is. */
export async function verifyRelease(folder: string, key: KeyObject): Promise<ReleaseFound> {
  const problems: ReleaseProblem[] = [];
  const note = (file: string, problem: ReleaseProblem['problem']): null => {
    problems.push({ file, problem });
    return null;
  };
  const text = signedText(folder, SUMS, key, note);
  const sums = text === null ? null : (readSums(text) ?? note(SUMS, 'malformed'));
  const provenance = signedText(folder, PROVENANCE, key, note);
  const built = provenance === null ? null : (readProvenance(provenance) ?? note(PROVENANCE, 'malformed'));
  const own = [SUMS, PROVENANCE].flatMap((name) => [name, `${name}${SIGNATURE}`]);
  let files = 0;
  for (const [name, sum] of sums ?? []) {
    const path = join(folder, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
      if (!own.includes(name)) note(name, 'missing'); // of its own it was said before
    } else if ((await sumOf(path)) !== sum) note(name, 'changed');
    else files += 1;
  }
  if (sums !== null) {
    for (const name of readdirSync(folder)) if (!sums.has(name) && !own.includes(name)) note(name, 'unlisted');
    const isOfBuild = [...(built?.subjects ?? [])].every(([name, sum]) => sums.get(name) === sum);
    const isAll = [...sums.keys()].every((name) => own.includes(name) || built === null || built.subjects.has(name));
    if (!isOfBuild || !isAll) note(PROVENANCE, 'changed');
  }
  return { version: built?.version ?? null, commit: built?.commit ?? null, files, problems };
}

/** The text of a file that the key has signed; null, with a note, of any other. */
function signedText(
  folder: string,
  name: string,
  key: KeyObject,
  note: (file: string, problem: ReleaseProblem['problem']) => null,
): string | null {
  const [content, signature] = [name, `${name}${SIGNATURE}`].map((one) => plainFile(join(folder, one)));
  if (content == null) return note(name, 'missing');
  if (signature == null) return note(`${name}${SIGNATURE}`, 'missing');
  const isSigned = signature.length === SIGNATURE_BYTES && verify(null, content, key, signature);
  return isSigned ? content.toString('utf8') : note(name, 'signature');
}

function plainFile(path: string): Buffer | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size <= TEXT_BYTES_MAX ? readFileSync(path) : null;
}

interface Built {
  readonly version: string;
  readonly commit: string;
  readonly subjects: ReadonlyMap<string, string>;
}

interface Statement {
  readonly _type?: unknown;
  readonly predicateType?: unknown;
  readonly subject?: readonly { readonly name?: unknown; readonly digest?: { readonly sha256?: unknown } }[];
  readonly predicate?: {
    readonly buildDefinition?: {
      readonly externalParameters?: { readonly version?: unknown };
      readonly resolvedDependencies?: readonly { readonly digest?: { readonly gitCommit?: unknown } }[];
    };
  };
}

function readProvenance(text: string): Built | null {
  try {
    const { _type, predicateType, subject, predicate } = JSON.parse(text) as Statement;
    const { externalParameters, resolvedDependencies } = predicate!.buildDefinition!;
    const commit = resolvedDependencies!.map(({ digest }) => digest?.gitCommit).find((one) => typeof one === 'string');
    const version = externalParameters!.version;
    const subjects = subject!.map(({ name, digest }) => [name, digest!.sha256] as const);
    const isWhole = subjects.every((one) => one.every((part) => typeof part === 'string'));
    if (_type !== STATEMENT_TYPE || predicateType !== PREDICATE_TYPE || !isWhole) return null;
    if (typeof version !== 'string' || typeof commit !== 'string') return null;
    return { version, commit, subjects: new Map(subjects as [string, string][]) };
  } catch {
    return null;
  }
}
