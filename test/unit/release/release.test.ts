/** A release as who downloaded it sees it: whole, changed, of another key, with a file missing. Ecosystem X72, XA9. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { billOf, ReleaseRefused, seal, signingKeyIn } from '../../../deploy/release/make.ts';
import { BILL, readSums, sumOf, verifyRelease } from '../../../protocol/node/release.ts';
import { nobodyAt, runCommand } from '../../support/command.ts';
import { ROOT } from '../../support/tree.ts';

const place = mkdtempSync(join(tmpdir(), 'flock-release-'));
test.after.always(() => rmSync(place, { recursive: true, force: true }));

const pair = () => generateKeyPairSync('ed25519');
const [own, other] = [pair(), pair()];
const pemOf = ({ publicKey }: typeof own): string => publicKey.export({ type: 'spki', format: 'pem' }).toString();
const SOURCE = { version: '1.0.0', commit: 'c'.repeat(40), lock: 'd'.repeat(64), tools: { node: '24.0.0' } };
const TARBALL = 'flock-client-1.0.0.tgz';

const whole = join(place, 'whole');
const keyFile = join(place, 'release.pub');
test.before(async () => {
  mkdirSync(whole);
  writeFileSync(join(whole, TARBALL), 'packed');
  writeFileSync(join(whole, BILL), '{}\n');
  await seal(whole, SOURCE, own.privateKey);
  writeFileSync(keyFile, pemOf(own));
});

let made = 0;
function changed(change: (folder: string) => void): string {
  const folder = join(place, `changed-${(made += 1)}`);
  cpSync(whole, folder, { recursive: true });
  change(folder);
  return folder;
}
const problemsOf = async (folder: string, of = own) =>
  (await verifyRelease(folder, of.publicKey)).problems.map(({ file, problem }) => `${file} ${problem}`);

test('ecosystem X72 a whole release says its version, its commit and how many files it has', async (t) => {
  t.deepEqual(await verifyRelease(whole, own.publicKey), {
    version: '1.0.0',
    commit: SOURCE.commit,
    files: 3,
    problems: [],
  });
});

for (const [what, change, expected] of [
  ['a changed byte', (at) => writeFileSync(join(at, TARBALL), 'pacKed'), [`${TARBALL} changed`]],
  ['a missing file', (at) => rmSync(join(at, BILL)), [`${BILL} missing`]],
  ['a file beside the list', (at) => writeFileSync(join(at, 'more.tgz'), ''), ['more.tgz unlisted']],
  ['a link in the place of a file', (at) => relink(at, TARBALL), [`${TARBALL} missing`]],
  ['a list without its signature', (at) => rmSync(join(at, 'SHA256SUMS.sig')), ['SHA256SUMS.sig missing']],
  ['no list at all', (at) => rmSync(join(at, 'SHA256SUMS')), ['SHA256SUMS missing']],
  ['a changed list', (at) => edit(at, 'SHA256SUMS', 'tgz', 'tgZ'), ['SHA256SUMS signature']],
  ['a signature cut short', (at) => writeFileSync(join(at, 'SHA256SUMS.sig'), 'x'), ['SHA256SUMS signature']],
  [
    'a changed provenance',
    (at) => edit(at, 'provenance.json', SOURCE.commit, 'e'.repeat(40)),
    ['provenance.json signature', 'provenance.json changed'],
  ],
] as const satisfies readonly (readonly [string, (at: string) => void, readonly string[]])[]) {
  test(`ecosystem X72 ${what} is named`, async (t) => {
    t.deepEqual(await problemsOf(changed(change)), expected);
  });
}

function edit(folder: string, name: string, from: string, to: string): void {
  const path = join(folder, name);
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
}
function relink(folder: string, name: string): void {
  rmSync(join(folder, name));
  symlinkSync(join(whole, name), join(folder, name));
}

test('ecosystem X72 another key is named, also one that signed all of it', async (t) => {
  t.deepEqual(await problemsOf(whole, other), ['SHA256SUMS signature', 'provenance.json signature']);
  const mixed = changed((at) => {
    for (const name of ['SHA256SUMS', 'SHA256SUMS.sig', 'provenance.json', 'provenance.json.sig'])
      rmSync(join(at, name));
  });
  await seal(mixed, SOURCE, other.privateKey);
  t.deepEqual(await problemsOf(mixed), ['SHA256SUMS signature', 'provenance.json signature']);
  t.deepEqual(await problemsOf(mixed, other), []);
});

test('ecosystem X72 a provenance of another release, signed by the same key, is named', async (t) => {
  const later = changed((at) => {
    for (const name of ['SHA256SUMS', 'SHA256SUMS.sig', 'provenance.json', 'provenance.json.sig'])
      rmSync(join(at, name));
    writeFileSync(join(at, TARBALL), 'packed later');
  });
  await seal(later, { ...SOURCE, version: '1.0.1' }, own.privateKey);
  const mixed = changed((at) => {
    for (const name of ['provenance.json', 'provenance.json.sig']) cpSync(join(later, name), join(at, name));
  });
  t.deepEqual(await problemsOf(mixed), ['provenance.json changed', 'provenance.json changed']);
});

test('ecosystem X72 a list that leads elsewhere, names a file twice or ends within a line is none', (t) => {
  const sum = 'a'.repeat(64);
  t.is(readSums(`${sum}  a.tgz\n`)?.size, 1);
  for (const text of [
    `${sum}  ../a\n`,
    `${sum}  /a\n`,
    `${sum}  a\n${sum}  a\n`,
    `${sum}  a`,
    `${sum} *a\n`,
    `${sum.slice(1)}  a\n`,
    '',
    '\n',
  ])
    t.is(readSums(text), null, JSON.stringify(text));
});

test('ecosystem X72 XA9 two lines of openssl and one of sha256sum check it offline, and find one changed byte', (t) => {
  const run = (command: string, cwd: string): string =>
    execFileSync('sh', ['-ec', command], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const guide = readFileSync(new URL('../../../docs/guides/releases.md', import.meta.url), 'utf8');
  const lines = [...guide.matchAll(/^(?:openssl pkeyutl|sha256sum) .*$/gm)].map(([line]) =>
    line.replace('release.pub', keyFile),
  );
  t.is(lines.length, 3);
  for (const line of lines) t.regex(run(line, whole), /Signature Verified Successfully|OK$/m);
  const altered = changed((at) => writeFileSync(join(at, TARBALL), 'pacKed'));
  t.throws(() => run(lines[2]!, altered), { message: /FAILED|failed/ });
  const relisted = changed((at) => edit(at, 'SHA256SUMS', 'tgz', 'tgZ'));
  t.throws(() => run(lines[0]!, relisted), { message: /Verification Failure|failed/i });
});

test('ecosystem X72 flock release verify says it in words and as JSON, with exit codes 0, 1 and 2', async (t) => {
  const env = { FLOCK_URL: await nobodyAt() };
  const verify = (...args: string[]) => runCommand(['release', 'verify', ...args], { env });
  const good = await verify(whole, '--key-file', keyFile);
  t.is(good.code, 0, good.err);
  t.is(good.out, `ok: 3 files of 1.0.0, made of commit ${SOURCE.commit}\n`);
  const bad = await verify(
    changed((at) => rmSync(join(at, BILL))),
    '--key-file',
    keyFile,
    '--json',
  );
  t.is(bad.code, 1);
  t.like(JSON.parse(bad.out), { ok: false, problems: [{ file: BILL, problem: 'missing' }] });
  for (const args of [[], [whole], [join(place, 'nowhere'), '--key-file', keyFile]])
    t.is((await verify(...args)).code, 2);
  const secret = join(place, 'secret.pem');
  writeFileSync(secret, own.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const noKey = await verify(whole, '--key-file', secret);
  t.is(noKey.code, 2);
  t.regex(noKey.err, /RELEASE_KEY: --key-file: it holds no public key of Ed25519/);
});

test('ecosystem X72 the release key is read from a file that its owner alone reads, and is never quoted', (t) => {
  const file = join(place, 'key.pem');
  writeFileSync(file, own.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  t.is(signingKeyIn(file).asymmetricKeyType, 'ed25519');
  execFileSync('chmod', ['644', file]);
  t.throws(() => signingKeyIn(file), { instanceOf: ReleaseRefused, message: /others may read it/ });
  const rsa = join(place, 'rsa.pem');
  writeFileSync(rsa, 'hunter2', { mode: 0o600 });
  t.notRegex(t.throws(() => signingKeyIn(rsa), { instanceOf: ReleaseRefused })!.message, /hunter2/);
  t.throws(() => signingKeyIn(join(place, 'nowhere')), { message: /no such file/ });
});

test('ecosystem X70 the packed clients have the same bytes whoever packs them, where and when', async (t) => {
  const pack = async (umask: string, zone: string): Promise<Record<string, string>> => {
    const folder = mkdtempSync(join(place, 'packed-'));
    const script = `umask ${umask}; for one in pack wheel module; do npm run -s clients:$one -- ${folder}; done`;
    execFileSync('sh', ['-ec', script], { cwd: ROOT, env: { ...process.env, TZ: zone, LC_ALL: 'C' }, stdio: 'pipe' });
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(?:tgz|whl|zip)$/.test(name),
    );
    return Object.fromEntries(await Promise.all(files.map(async (name) => [name, await sumOf(join(folder, name))])));
  };
  const one = await pack('022', 'UTC');
  t.is(Object.keys(one).length, 3);
  t.deepEqual(await pack('077', 'Asia/Tokyo'), one);
});

test('ecosystem X70, X71 a bill of materials is the same in two runs', (t) => {
  const run = (serialNumber: string, timestamp: string) =>
    billOf(
      JSON.stringify({ bomFormat: 'CycloneDX', serialNumber, metadata: { timestamp, tools: [] }, components: [] }),
    );
  t.is(run('urn:uuid:1', '2026-01-01'), run('urn:uuid:2', '2026-01-02'));
  t.regex(run('urn:uuid:1', '2026-01-01'), /CycloneDX/);
});
