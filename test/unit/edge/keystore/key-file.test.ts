import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { KeyFile } from '../../../../edge/keystore/key-file.ts';
import { KeystoreError, type KeystoreCode } from '../../../../edge/keystore/keystore-error.ts';
import { createPassphraseWrap } from '../../../../edge/keystore/passphrase-wrap.ts';
import { alone, decodeFile, newHeader, encodeFile } from '../../../../edge/keystore/sealed-file.ts';
import { parseKeySource, parsePhraseSource } from '../../../../edge/keystore/source-secret.ts';
import {
  addTo,
  CHEAP,
  filledKeystore,
  newKeystorePath,
  OLD_PHRASE,
  PASSPHRASE,
  wrapWith,
} from '../../../support/edge/keystores.ts';

const codeOf = async (work: () => Promise<unknown>): Promise<KeystoreCode | 'none'> => {
  try {
    await work();
    return 'none';
  } catch (error) {
    if (error instanceof KeystoreError) return error.code;
    throw error;
  }
};
const refuses = async (t: ExecutionContext, code: KeystoreCode, work: () => Promise<unknown>) =>
  t.is(await codeOf(work), code);
const withDigest = (content: Buffer) => Buffer.concat([content, createHash('sha256').update(content).digest()]);

test('issue 4.8 what is imported comes back: sources, and the secret for one call, which is zero afterwards', async (t) => {
  const { path, file } = await filledKeystore();
  file.close();
  const opened = await KeyFile.open(path, wrapWith());
  t.deepEqual(
    opened.sources.map(({ kind, label, purgedAt }) => [kind, label, purgedAt]),
    [
      ['phrase', 'old wallet', null],
      ['key', 'hot key', null],
    ],
  );
  const { fingerprint } = parseKeySource('evm', '11'.repeat(32));
  const lent: Buffer[] = [];
  t.is(
    opened.withSecret(fingerprint, (secret) => {
      lent.push(secret);
      return secret.toString('hex');
    }),
    '11'.repeat(32),
  );
  t.true(lent[0]!.every((byte) => byte === 0));
  t.deepEqual(
    opened.withSecret(parsePhraseSource(OLD_PHRASE, '').fingerprint, (secret) => Buffer.from(secret)),
    parsePhraseSource(OLD_PHRASE, '').secret,
  );
});

test('issue 4.8 the file is for its owner only, holds no secret in clear, and no other file is left beside it', async (t) => {
  const { path, file } = await filledKeystore();
  t.is(statSync(path).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(dirname(path)), ['keys.flock', 'keys.flock.writer']);
  t.like(statSync(`${path}.writer`), { mode: 0o100600, size: 0 });
  const bytes = readFileSync(path);
  t.true(bytes.toString('latin1').startsWith('flock-keystore 1 {"id":"'));
  for (const secret of [
    Buffer.from('11'.repeat(32), 'hex'),
    Buffer.from('11'.repeat(32)),
    Buffer.from('legal winner'),
    Buffer.from('old wallet'),
    parsePhraseSource(OLD_PHRASE, '').secret,
  ]) {
    t.false(bytes.includes(secret));
  }
  file.close();
});

test('issue 4.8 what stands at the place of the new file is neither followed nor left readable', async (t) => {
  const { path, file } = await filledKeystore();
  writeFileSync(`${path}.new`, 'left by a kill', { mode: 0o644 });
  await addTo(file, parseKeySource('evm', '44'.repeat(32)), { kind: 'key' });
  t.is(statSync(path).mode & 0o777, 0o600);
  const elsewhere = `${path}.elsewhere`;
  writeFileSync(elsewhere, 'of somebody else');
  symlinkSync(elsewhere, `${path}.new`);
  await refuses(t, 'KEYSTORE_UNAVAILABLE', () => addTo(file, parseKeySource('evm', '55'.repeat(32)), { kind: 'key' }));
  t.is(readFileSync(elsewhere, 'utf8'), 'of somebody else');
});

test('issue 4.8 a wrong passphrase, a missing file, a short passphrase and a foreign file each have their code', async (t) => {
  const { path } = await filledKeystore();
  await refuses(t, 'KEYSTORE_LOCKED', () => KeyFile.open(path, wrapWith('correct horse battery stapler')));
  await refuses(t, 'KEYSTORE_MISSING', () => KeyFile.open(newKeystorePath(), wrapWith()));
  await refuses(t, 'PASSPHRASE_WEAK', () => KeyFile.create(newKeystorePath(), wrapWith('elevenchars')));
  await refuses(t, 'KEYSTORE_UNAVAILABLE', () => KeyFile.open(dirname(path), wrapWith()));
  const foreign = newKeystorePath();
  for (const text of [
    '',
    'x',
    'some other file that is longer than a digest of SHA-256 is',
    '-----BEGIN PRIVATE KEY-----',
  ]) {
    writeFileSync(foreign, text);
    await refuses(t, 'KEYSTORE_DAMAGED', () => KeyFile.open(foreign, wrapWith()));
  }
});

test('issue 4.8 a FIFO or a device in place of the file is refused at once: it would never end', async (t) => {
  const fifo = newKeystorePath();
  execFileSync('mkfifo', [fifo]);
  for (const place of [fifo, '/dev/zero', '/dev/null'])
    await refuses(t, 'KEYSTORE_UNAVAILABLE', () => KeyFile.open(place, wrapWith()));
});

test('issue 4.8 a file asks scrypt for at most 512 MiB; one that wants more is refused before anybody gives it', async (t) => {
  const dataKey = Buffer.alloc(32, 7),
    own = await createPassphraseWrap(Buffer.from(PASSPHRASE), CHEAP).wrap(dataKey);
  const wrap = createPassphraseWrap(Buffer.from(PASSPHRASE));
  if (own.kind !== 'passphrase') return t.fail();
  for (const [n, r, p] of [
    [2 ** 20, 16, 1],
    [2 ** 20, 8, 1],
    [2 ** 20, 4, 1],
    [2 ** 19, 8, 1],
    [2 ** 18, 16, 1],
    [2 ** 19, 9, 4],
    [2 ** 17, 8, 5],
    [2 ** 21, 1, 1],
  ] as const) {
    t.is(await codeOf(() => wrap.unwrap({ ...own, n, r, p })), 'KEYSTORE_UNSUPPORTED', `${n} ${r} ${p}`);
  }
  t.deepEqual(await wrap.unwrap(await wrap.wrap(dataKey)), dataKey, 'what our own files ask for is given');
});

test('issue 4.8 any flipped bit and any cut is KEYSTORE_DAMAGED, before anybody waits for scrypt', async (t) => {
  const { path } = await filledKeystore();
  const bytes = readFileSync(path);
  const wrap = { ...wrapWith(), unwrap: () => Promise.reject(new Error('nobody asks for the key')) };
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
      const altered = Buffer.from(bytes);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      writeFileSync(path, altered);
      return (await codeOf(() => KeyFile.open(path, wrap))) === 'KEYSTORE_DAMAGED';
    }),
    { numRuns: 300 },
  );
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), async (length) => {
      writeFileSync(path, bytes.subarray(0, length));
      return (await codeOf(() => KeyFile.open(path, wrap))) === 'KEYSTORE_DAMAGED';
    }),
    { numRuns: 100 },
  );
  t.pass();
});

test('issue 4.8 any flipped bit is refused also where somebody made a new digest for it: header and body are authenticated', async (t) => {
  const { path } = await filledKeystore();
  const content = readFileSync(path).subarray(0, -32);
  await fc.assert(
    fc.asyncProperty(fc.nat(content.length * 8 - 1), async (bit) => {
      const altered = Buffer.from(content);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      writeFileSync(path, withDigest(altered));
      return (await codeOf(() => KeyFile.open(path, wrapWith()))) !== 'none';
    }),
    { numRuns: 100 },
  );
  // One hexadecimal digit of a field, and one bit of the body.
  const other = (field: string) => {
    const at = content.indexOf(`"${field}":"`) + field.length + 4;
    const altered = Buffer.from(content);
    altered[at] = altered[at] === 0x61 ? 0x62 : 0x61;
    return altered;
  };
  const inBody = Buffer.from(content);
  inBody[content.length - 1]! ^= 1;
  for (const [altered, code] of [
    [other('salt'), 'KEYSTORE_LOCKED'],
    [other('key'), 'KEYSTORE_LOCKED'],
    [other('id'), 'KEYSTORE_DAMAGED'],
    [inBody, 'KEYSTORE_DAMAGED'],
  ] as const) {
    writeFileSync(path, withDigest(altered));
    await refuses(t, code, () => KeyFile.open(path, wrapWith()));
  }
});

test('issue 4.8 parameters that are cheaper or dearer than the bounds, and another version, are KEYSTORE_UNSUPPORTED', async (t) => {
  const { path } = await filledKeystore();
  const [line] = readFileSync(path).subarray(0, -32).toString('latin1').split('\n');
  const rest = readFileSync(path).subarray(line!.length, -32);
  for (const [from, to] of [
    ['"n":16384', '"n":1024'],
    ['"n":16384', '"n":2097152'],
    ['"n":16384', '"n":16385'],
    ['"r":1', '"r":99'],
    ['"p":1', '"p":0'],
    ['flock-keystore 1', 'flock-keystore 2'],
    ['"kdf":"scrypt"', '"kdf":"md5"'],
  ] as const) {
    t.true(line!.includes(from));
    writeFileSync(path, withDigest(Buffer.concat([Buffer.from(line!.replace(from, to), 'latin1'), rest])));
    t.is(await codeOf(() => KeyFile.open(path, wrapWith())), 'KEYSTORE_UNSUPPORTED', to);
  }
});

test('issue 4.8 a body under another header, and a secret under another fingerprint, are refused', async (t) => {
  const dataKey = Buffer.alloc(32, 7);
  const wrapped = await createPassphraseWrap(Buffer.from(PASSPHRASE), CHEAP).wrap(dataKey);
  const [one, other] = [newHeader(wrapped), newHeader(wrapped)];
  const body = encodeFile(one.header, dataKey, Buffer.from('{"sources":[]}')).subarray(one.header.length, -32);
  const moved = newKeystorePath();
  writeFileSync(moved, withDigest(Buffer.concat([other.header, body])));
  await refuses(t, 'KEYSTORE_DAMAGED', () => KeyFile.open(moved, wrapWith()));

  const { path, file, phrase, key } = await filledKeystore();
  const swapped = { sources: [{ ...phrase, secret: key.secret }, key] };
  const { header, wrapped: held } = decodeFile(readFileSync(path));
  const opened = await wrapWith().unwrap(held);
  writeFileSync(path, encodeFile(header, opened, Buffer.from(JSON.stringify(swapped))));
  file.refresh();
  t.throws(() => file.withSecret(phrase.fingerprint, () => undefined), {
    instanceOf: KeystoreError,
    message: /KEYSTORE_DAMAGED/,
  });
});

test('§4.8 a purge keeps the record, destroys the secret, and overwrites the bytes that it was in', async (t) => {
  const { path, file, phrase, key } = await filledKeystore();
  // Another name of the same bytes shows what becomes of them.
  const before = `${path}.before`;
  linkSync(path, before);
  const purged = await file.purge(phrase.fingerprint, Date.UTC(2026, 0, 2));
  t.like(purged, { purgedAt: '2026-01-02T00:00:00.000Z', secret: null, label: 'old wallet' });
  t.true(readFileSync(before).every((byte) => byte === 0));
  t.throws(() => file.withSecret(phrase.fingerprint, () => undefined), { message: /SOURCE_PURGED/ });
  const opened = await KeyFile.open(path, wrapWith());
  t.deepEqual(
    opened.sources.map(({ purgedAt }) => purgedAt !== null),
    [true, false],
  );
  t.is(
    opened.withSecret(key.fingerprint, (secret) => secret.length),
    32,
  );
  t.is((await opened.purge(phrase.fingerprint, Date.UTC(2027, 0, 1))).purgedAt, '2026-01-02T00:00:00.000Z');
  await refuses(t, 'SOURCE_PURGED', () => addTo(opened, parsePhraseSource(OLD_PHRASE, '')));
});

test('issue 4.8 a source is imported once, there is one own phrase, and an unknown one is told', async (t) => {
  const { file } = await filledKeystore();
  await refuses(t, 'SOURCE_KNOWN', () => addTo(file, parsePhraseSource(OLD_PHRASE, '')));
  await addTo(file, parsePhraseSource(OLD_PHRASE, 'one'), { own: true });
  await refuses(t, 'SOURCE_KNOWN', () => addTo(file, parsePhraseSource(OLD_PHRASE, 'two'), { own: true }));
  await refuses(t, 'SOURCE_UNKNOWN', () => file.purge('0'.repeat(16), 0));
  t.throws(() => file.withSecret('0'.repeat(16), () => undefined), { message: /SOURCE_UNKNOWN/ });
});

test('issue 4.8 two processes over one file: what the other wrote is kept and seen', async (t) => {
  const { path, file } = await filledKeystore();
  const other = await KeyFile.open(path, wrapWith());
  await addTo(other, parseKeySource('evm', '22'.repeat(32)), { kind: 'key' });
  await addTo(file, parseKeySource('evm', '33'.repeat(32)), { kind: 'key' });
  t.is(file.sources.length, 4);
  other.refresh();
  t.is(other.sources.length, 4);
  rmSync(path);
  t.throws(() => file.refresh(), { message: /KEYSTORE_MISSING/ });
});

test('issue 4.8 one writes at a time; the lock goes with whoever held it, whatever its process number was', async (t) => {
  const { path, file } = await filledKeystore();
  const holder = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `
    const { alone } = await import(${JSON.stringify(new URL('../../../../edge/keystore/sealed-file.ts', import.meta.url).href)});
    await alone(${JSON.stringify(path)}, () => { process.stdout.write('held'); return new Promise((resolve) => setTimeout(resolve, 60_000)); });`,
  ]);
  await once(holder.stdout, 'data');
  await refuses(t, 'KEYSTORE_BUSY', () => addTo(file, parseKeySource('evm', '44'.repeat(32)), { kind: 'key' }));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  for (const pid of [process.pid, process.ppid]) {
    // what a killed process of a container left, whose number another one has now
    writeFileSync(`${path}.lock`, String(pid));
    await addTo(file, parseKeySource('evm', String(pid).padStart(64, '4')), { kind: 'key' });
  }
  await alone(path, async () => refuses(t, 'KEYSTORE_BUSY', () => file.purge('0'.repeat(16), 0)));
  await refuses(t, 'SOURCE_UNKNOWN', () => file.purge('0'.repeat(16), 0));
});

test('issue 4.8 round trip of any labels and keys', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.tuple(
          fc
            .uint8Array({ minLength: 32, maxLength: 32 })
            .filter((key) => key[0]! < 0xff && key.some((byte) => byte > 0)),
          fc.string({ minLength: 1, unit: 'grapheme' }),
        ),
        { minLength: 1, maxLength: 4, selector: ([key]) => Buffer.from(key).toString('hex') },
      ),
      async (entries) => {
        const path = newKeystorePath();
        const file = await KeyFile.create(path, wrapWith());
        for (const [key, label] of entries)
          await addTo(file, parseKeySource('evm', Buffer.from(key).toString('hex')), { kind: 'key', label });
        const opened = await KeyFile.open(path, wrapWith());
        return opened.sources.every(
          ({ fingerprint, label }, at) =>
            label === entries[at]![1] &&
            opened.withSecret(fingerprint, (secret) => secret.equals(Buffer.from(entries[at]![0]))),
        );
      },
    ),
    { numRuns: 15 },
  );
  t.pass();
});

test('issue 4.8 rewrapped, the old passphrase opens nothing, the new one everything; purged stays purged; an open process is told', async (t) => {
  const { path, file, phrase, key } = await filledKeystore();
  const open = await KeyFile.open(path, wrapWith());
  await file.purge(phrase.fingerprint, 0);
  await file.rewrap(wrapWith('another passphrase that is long'));
  t.is(
    file.withSecret(key.fingerprint, (secret) => secret.toString('hex')),
    '11'.repeat(32),
  );
  await refuses(t, 'KEYSTORE_LOCKED', () => KeyFile.open(path, wrapWith()));
  const again = await KeyFile.open(path, wrapWith('another passphrase that is long'));
  t.is(
    again.withSecret(key.fingerprint, (secret) => secret.toString('hex')),
    '11'.repeat(32),
  );
  t.throws(() => again.withSecret(phrase.fingerprint, () => undefined), { message: /SOURCE_PURGED/ });
  t.throws(() => open.refresh(), { message: /KEYSTORE_DAMAGED/ });
  await refuses(t, 'PASSPHRASE_WEAK', () => file.rewrap(wrapWith('short')));
  t.is((await KeyFile.open(path, wrapWith('another passphrase that is long'))).sources.length, 2);
});
