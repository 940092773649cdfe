/**
 * `npm run -s release -- --key-file F FOLDER`: makes the folder of a release: the sources and the packed clients, the
 * bill of materials, SHA256SUMS and the provenance, both signed. The same commit and tools make the same bytes, but for
 * the signature of another key. Nothing is published. docs/guides/releases.md; ecosystem X70, X72.
 */
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, sign, type KeyObject } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  BILL,
  PREDICATE_TYPE,
  PROVENANCE,
  SIGNATURE,
  STATEMENT_TYPE,
  sumOf,
  SUMS,
} from '../../protocol/node/release.ts';
import { VERSION } from '../../protocol/version.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OTHERS_READ = 0o077;

/** What the files were made of and with. */
export interface Source {
  readonly version: string;
  readonly commit: string;
  /** SHA-256 of package-lock.json. */
  readonly lock: string;
  readonly tools: Readonly<Record<string, string>>;
}

/** A reason not to make a release, for who asked for one. */
export class ReleaseRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReleaseRefused';
  }
}

/** Signs what is in the folder: adds the provenance, SHA256SUMS and their signatures. */
export async function seal(folder: string, source: Source, key: KeyObject): Promise<void> {
  const names = readdirSync(folder).sort();
  const sums = new Map<string, string>();
  for (const name of names) sums.set(name, await sumOf(join(folder, name)));
  const statement = `${JSON.stringify(statementOf(sums, source), null, 2)}\n`;
  sums.set(PROVENANCE, createHash('sha256').update(statement).digest('hex'));
  const list = [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join('');
  for (const [name, text] of [
    [PROVENANCE, statement],
    [SUMS, list],
  ] as const) {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, `${name}${SIGNATURE}`), sign(null, Buffer.from(text), key));
  }
}

const statementOf = (sums: ReadonlyMap<string, string>, { version, commit, lock, tools }: Source) => ({
  _type: STATEMENT_TYPE,
  subject: [...sums].map(([name, sha256]) => ({ name, digest: { sha256 } })),
  predicateType: PREDICATE_TYPE,
  predicate: {
    buildDefinition: {
      buildType: 'urn:flock:release:1',
      externalParameters: { version },
      resolvedDependencies: [
        { name: 'sources', digest: { gitCommit: commit } },
        { name: 'package-lock.json', digest: { sha256: lock } },
      ],
    },
    runDetails: { builder: { id: 'urn:flock:npm-run-release', version: tools } },
  },
});

/** A private key of Ed25519 in a file that its owner alone reads. Throws: ReleaseRefused. */
export function signingKeyIn(file: string): KeyObject {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) throw new ReleaseRefused('--key-file: there is no such file');
  if ((stat.mode & OTHERS_READ) !== 0) throw new ReleaseRefused('--key-file: others may read it; chmod 600');
  try {
    const key = createPrivateKey(readFileSync(file));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // What it holds is not quoted.
  }
  throw new ReleaseRefused('--key-file: no private key of Ed25519 (openssl genpkey -algorithm ed25519)');
}

/** The bill of materials without what differs between two runs: its number and its time. */
export function billOf(npmSbom: string): string {
  const {
    serialNumber: _number,
    metadata,
    ...bill
  } = JSON.parse(npmSbom) as {
    serialNumber?: string;
    metadata: { timestamp?: string };
  };
  const { timestamp: _time, ...lasting } = metadata;
  return `${JSON.stringify({ ...bill, metadata: lasting }, null, 2)}\n`;
}

const said = (command: string, ...args: string[]): string =>
  execFileSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** The sources of the commit, the packed clients and the bill of materials. */
function pack(folder: string, commit: string): void {
  const archive = execFileSync('git', ['archive', '--format=tar', `--prefix=flock-${VERSION}/`, commit], {
    cwd: ROOT,
    maxBuffer: 512 << 20,
  });
  writeFileSync(join(folder, `flock-${VERSION}.tar.gz`), gzipSync(archive, { level: 9 }));
  said('npm', 'run', '-s', 'clients:pack', '--', folder);
  said('npm', 'run', '-s', 'clients:wheel', '--', folder);
  const modules = join(folder, 'modules');
  const [zip] = said('npm', 'run', '-s', 'clients:module', '--', modules).trim().split('\n').slice(-1);
  renameSync(resolve(ROOT, zip!), join(folder, `flock-client-go-${basename(zip!)}`));
  rmSync(modules, { recursive: true });
  writeFileSync(join(folder, BILL), billOf(said('npm', 'run', '-s', 'sbom')));
}

async function make(place: string, keyFile: string): Promise<void> {
  const key = signingKeyIn(keyFile);
  if (said('git', 'status', '--porcelain') !== '')
    throw new ReleaseRefused('the tree has changes that are in no commit: commit them, or take a clean clone');
  const folder = resolve(place);
  if (existsSync(folder)) throw new ReleaseRefused('the folder is there already: a release is made into a new one');
  mkdirSync(folder, { recursive: true });
  const commit = said('git', 'rev-parse', 'HEAD').trim();
  pack(folder, commit);
  const tools = {
    node: process.versions.node,
    npm: said('npm', '--version').trim(),
    python: said('python3', '--version').trim().replace('Python ', ''),
    git: said('git', '--version').trim().replace('git version ', ''),
  };
  await seal(folder, { version: VERSION, commit, lock: await sumOf(join(ROOT, 'package-lock.json')), tools }, key);
  process.stdout.write(`${folder}\n`);
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { 'key-file': { type: 'string' } } });
  const [place, ...more] = positionals;
  try {
    if (place === undefined || more.length > 0 || values['key-file'] === undefined)
      throw new ReleaseRefused('usage: npm run -s release -- --key-file F FOLDER');
    await make(place, values['key-file']);
  } catch (error) {
    if (!(error instanceof ReleaseRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
