import test from 'ava';
import { sourcesCommand } from '../../../../edge/cli/sources.ts';
import { KeyFile, SOURCES_MAX } from '../../../../edge/keystore/key-file.ts';
import { createPkcs11Wrap } from '../../../../edge/keystore/pkcs11-wrap.ts';
import { parseKeySource, parsePhraseSource } from '../../../../edge/keystore/source-secret.ts';
import {
  addTo,
  filledKeystore,
  newKeystorePath,
  OLD_FIRST,
  OLD_PHRASE,
  PASSPHRASE,
  wrapWith,
} from '../../../support/edge/keystores.ts';
import { PromptEnded } from '../../../../protocol/node/secret-prompt.ts';
import { newToken } from '../../../support/softhsm.ts';

/** A command in this process; `secrets` are what a person would type, in order. */
async function run(
  args: readonly string[],
  secrets: readonly string[] = [],
  env: Readonly<Record<string, string>> = { EDGE_KEYSTORE_FILE: newKeystorePath() },
) {
  let out = '',
    err = '';
  const waiting = [...secrets];
  const code = await sourcesCommand(
    args,
    env,
    { write: (text) => void (out += text) },
    { write: (text) => void (err += text) },
    {
      interactive: false,
      close: () => undefined,
      ask: async () => {
        const next = waiting.shift();
        if (next === undefined && args[1] === 'keys') throw new PromptEnded('no more', true);
        return Buffer.from(next ?? '');
      },
    },
  );
  return {
    code,
    out,
    err: err.replace(/^warning: .*\n/, ''),
    answers: out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

test('issue 4.8 secrets among the arguments are refused before anything else; what is not understood gets the usage', async (t) => {
  for (const args of [
    ['import', 'phrase', '--label', OLD_PHRASE],
    ['import', 'phrase', '--label', 'x', ...OLD_PHRASE.split(' ')],
    ['import', 'key', '--family', 'evm', '--label', '22'.repeat(32)],
    ['import', 'key', '--family', 'btc', 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn'],
  ]) {
    const ran = await run(args);
    t.is(ran.code, 2);
    t.regex(ran.err, /looks like a phrase or a private key/);
    t.notRegex(ran.err + ran.out, /legal|2222|KwDi/);
  }
  for (const args of [
    [],
    ['import'],
    ['import', 'phrase'],
    ['import', 'key', '--label', 'x'],
    ['import', 'key', '--family', 'sol', '--label', 'x'],
    ['list', 'x'],
    ['purge', '0'.repeat(16)],
    ['register', '0'.repeat(16), '--chains', 'xlm'],
    ['detect', '0'.repeat(16), '--chain', 'eth'],
    ['forget'],
  ]) {
    const ran = await run(args);
    t.is(ran.code, 2, args.join(' '));
    t.regex(ran.err, /usage: flock-edge sources/);
    t.is(ran.out, '');
  }
});

test('issue 4.8 detection by command: every form of an address, a single key, and the code when no path is known', async (t) => {
  const { path, phrase, key } = await filledKeystore();
  const at = (...args: string[]) => run(['detect', ...args], [PASSPHRASE], { EDGE_KEYSTORE_FILE: path });
  t.like((await at(phrase.fingerprint, '--chain', 'eth', '--address', OLD_FIRST.toLowerCase())).answers[0], {
    address: OLD_FIRST,
    path: "m/44'/60'/0'/0/0",
  });
  t.like(
    (await at(key.fingerprint, '--chain', 'base', '--address', '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'))
      .answers[0],
    { path: null, wallets: 'single key' },
  );
  t.regex(
    (
      await at(
        phrase.fingerprint,
        '--chain',
        'eth',
        '--address',
        '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
        '--indexes',
        '2',
      )
    ).err,
    /^PATH_UNKNOWN/,
  );
  t.regex((await at(phrase.fingerprint, '--chain', 'eth', '--address', 'nonsense')).err, /no address of eth/);
  t.regex((await at('0'.repeat(16), '--chain', 'eth', '--address', OLD_FIRST)).err, /^SOURCE_UNKNOWN/);
});

test('issue 4.8 what a command lacks is named: keystore, addresses, cloud, own phrase', async (t) => {
  const { path, phrase } = await filledKeystore();
  t.regex((await run(['list'], [], {})).err, /EDGE_KEYSTORE_FILE or --keystore/);
  t.regex((await run(['list'], [PASSPHRASE])).err, /^KEYSTORE_MISSING/);
  const register = (env: Record<string, string>, ...more: string[]) =>
    run(['register', phrase.fingerprint, '--chains', 'eth', ...more], [PASSPHRASE], {
      EDGE_KEYSTORE_FILE: path,
      ...env,
    });
  t.regex((await register({})).err, /--path with --count, or --address/);
  t.regex((await register({}, '--path', 'm/x')).err, /--path: expected/);
  t.regex((await register({}, '--path', "m/44'/60'/0'/0", '--count', '1e9')).err, /whole numbers/);
  const some = ['--path', "m/44'/60'/0'/0"];
  t.regex((await register({}, ...some)).err, /API_KEY: is needed[\s\S]*CLOUD_URL/);
  const cloud = { API_KEY: `flk_test_${'a'.repeat(24)}`, CLOUD_URL: 'http://127.0.0.1:9' };
  t.regex((await register(cloud, ...some)).err, /SOURCE_UNKNOWN: .*own phrase/);
  t.regex((await register({ ...cloud, MNEMONIC: OLD_PHRASE }, ...some)).err, /^UPSTREAM_UNAVAILABLE/);
  t.regex(
    (await register({ ...cloud, MNEMONIC: OLD_PHRASE }, '--path', "m/44'/60'/i'")).err,
    /KEY_NOT_UNDERSTOOD: .*hardened/,
  );
});

test('issue 4.8 a purge that the cloud did not hear of is told again by the same command; the key is gone at once', async (t) => {
  const { path, file, phrase } = await filledKeystore();
  await file.note(phrase.fingerprint, { sourceId: `ks_${'2'.repeat(26)}` });
  const env = {
    EDGE_KEYSTORE_FILE: path,
    API_KEY: `flk_test_${'a'.repeat(24)}`,
    CLOUD_URL: 'http://127.0.0.1:9',
    MNEMONIC: OLD_PHRASE,
  };
  for (let time = 0; time < 2; time += 1) {
    const ran = await run(['purge', phrase.fingerprint, '--yes'], [PASSPHRASE], env);
    t.is(ran.code, 1);
    t.regex(ran.err, /reporting it to the cloud\nUPSTREAM_UNAVAILABLE/);
    t.truthy((await KeyFile.open(path, wrapWith())).find(phrase.fingerprint)!.purgedAt);
  }
  file.refresh();
  await file.note(phrase.fingerprint, { environment: 'live' });
  t.regex((await run(['purge', phrase.fingerprint, '--yes'], [PASSPHRASE], env)).err, /OTHER_ENVIRONMENT: .*live/);
});

test.serial(
  'issue 4.8 a keystore that a passphrase opens is opened by no token, and one of a token by no other token',
  async (t) => {
    const one = newToken('one'),
      other = newToken('other');
    const settings = (token: typeof one, label: string) => ({
      module: token.env['EDGE_PKCS11_MODULE']!,
      token: label,
      key: 'flock-edge',
    });
    const path = newKeystorePath(),
      key = parseKeySource('evm', '11'.repeat(32));
    process.env['SOFTHSM2_CONF'] = one.env['SOFTHSM2_CONF'];
    const file = await KeyFile.create(path, createPkcs11Wrap(settings(one, 'one'), Buffer.from(one.pin)));
    await addTo(file, key, { kind: 'key' });
    const again = await KeyFile.open(path, createPkcs11Wrap(settings(one, 'one'), Buffer.from(one.pin)));
    t.is(
      again.withSecret(key.fingerprint, (secret) => secret.toString('hex')),
      '11'.repeat(32),
    );
    const plain = newKeystorePath();
    await addTo(await KeyFile.create(plain, wrapWith()), parsePhraseSource(OLD_PHRASE, ''));
    await t.throwsAsync(KeyFile.open(plain, createPkcs11Wrap(settings(one, 'one'), Buffer.from(one.pin))), {
      message: /KEYSTORE_LOCKED.*leave EDGE_PKCS11_MODULE out/,
    });
    await t.throwsAsync(KeyFile.open(path, wrapWith()), { message: /KEYSTORE_LOCKED.*set EDGE_PKCS11_MODULE/ });
    await t.throwsAsync(
      KeyFile.open(path, createPkcs11Wrap({ ...settings(one, 'one'), module: '/etc/hostname' }, Buffer.from(one.pin))),
      { message: /MODULE_UNAVAILABLE/ },
    );
    process.env['SOFTHSM2_CONF'] = other.env['SOFTHSM2_CONF'];
    await t.throwsAsync(KeyFile.open(path, createPkcs11Wrap(settings(other, 'other'), Buffer.from(other.pin))), {
      message: /MODULE_UNAVAILABLE.*no key of that label/,
    });
    await KeyFile.create(newKeystorePath(), createPkcs11Wrap(settings(other, 'other'), Buffer.from(other.pin)));
    await t.throwsAsync(KeyFile.open(path, createPkcs11Wrap(settings(other, 'other'), Buffer.from(other.pin))), {
      message: /KEYSTORE_LOCKED.*does not unwrap/,
    });
  },
);

test.serial('issue 4.8 rewrap: from a passphrase to a token and back to another passphrase', async (t) => {
  const token = newToken('three');
  process.env['SOFTHSM2_CONF'] = token.env['SOFTHSM2_CONF'];
  const { path } = await filledKeystore();
  const plain = { EDGE_KEYSTORE_FILE: path };
  t.regex((await run(['rewrap', '--to', 'token'], [PASSPHRASE], plain)).err, /EDGE_PKCS11_MODULE: which token/);
  t.is((await run(['rewrap', '--to', 'nothing'], [], plain)).code, 2);
  const withToken = { ...plain, ...token.env };
  t.is((await run(['rewrap', '--to', 'token'], [PASSPHRASE, token.pin], withToken)).code, 0);
  t.regex((await run(['list'], [PASSPHRASE], plain)).err, /KEYSTORE_LOCKED/);
  t.deepEqual(
    (await run(['check'], [token.pin], withToken)).answers.map(({ signs }) => signs),
    [true, true],
  );
  t.is(
    (await run(['rewrap', '--to', 'passphrase'], [token.pin, 'another passphrase that is long'], withToken)).code,
    0,
  );
  t.deepEqual(
    (await run(['check'], ['another passphrase that is long'], plain)).answers.map(({ signs }) => signs),
    [true, true],
  );
});

test('migration M-K6: keys are taken line by line, all in one change of the keystore or none; a line that is no key is named and not repeated', async (t) => {
  const path = newKeystorePath();
  const piped = (lines: readonly string[]) =>
    run(['import', 'keys', '--family', 'evm', '--label', 'old hot wallet'], [PASSPHRASE, ...lines], {
      EDGE_KEYSTORE_FILE: path,
    });
  const keys = Array.from({ length: 40 }, (_, at) => String(at + 1).padStart(64, '0'));
  const first = await piped(keys.slice(0, 30));
  t.is(first.code, 0, first.err);
  t.is(first.answers.length, 31);
  t.deepEqual(first.answers.at(-1), { read: 30, added: 30 });
  t.like(first.answers[0], { kind: 'key', label: 'old hot wallet', own: false });
  t.false(keys.some((key) => first.out.includes(key)));
  const more = await piped([...keys.slice(20, 40), '', ` ${keys[39]!} \r`]);
  t.deepEqual(more.answers.at(-1), { read: 21, added: 10 }, 'those that it has are left out');
  const wrong = await piped([...keys.map((key) => key.replace('00', 'aa')), 'no key at all']);
  t.is(wrong.code, 1);
  t.regex(wrong.err, /^KEY_NOT_UNDERSTOOD: .*line 41 of the keys; nothing was added/);
  t.notRegex(wrong.err, /no key at all/);
  const file = await KeyFile.open(path, wrapWith(PASSPHRASE));
  t.is(file.sources.length, 40);
  file.close();
});

test('migration M-K6: a keystore takes 10,000 sources', async (t) => {
  const path = newKeystorePath();
  const file = await KeyFile.create(path, wrapWith(PASSPHRASE));
  const entry = (at: number) => {
    const { fingerprint, keys, secret } = parseKeySource('evm', String(at).padStart(64, '0'));
    return { source: { fingerprint, kind: 'key' as const, label: 'x', own: false, keys, createdAt: '' }, secret };
  };
  const parsed = Array.from({ length: 3 }, (_, at) => entry(at + 1));
  const filler = Array.from({ length: SOURCES_MAX - 2 }, (_, at) => ({
    ...parsed[0]!,
    source: { ...parsed[0]!.source, fingerprint: String(at).padStart(16, '0') },
  }));
  t.is((await file.addAll(filler)).length, SOURCES_MAX - 2);
  await t.throwsAsync(() => file.addAll(parsed), { message: /^SOURCES_FULL/ });
  t.is((await file.addAll(parsed.slice(1))).length, 2);
  await t.throwsAsync(() => file.add(parsed[0]!.source, parsed[0]!.secret), { message: /^SOURCES_FULL/ });
  t.deepEqual(await file.addAll(parsed.slice(1)), [], 'what it has takes no room');
  file.close();
});
