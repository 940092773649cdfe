import test from 'ava';
import { localKeysCommand } from '../../../edge/cli/local-keys.ts';
import { LocalKeys } from '../../../edge/local-keys/local-keys.ts';
import { ENVIRONMENT_SETTING, openStorage } from '../../../edge/storage/storage.ts';
import { newDirectory } from '../../support/edge/disk.ts';

function run(args: string[], env: Record<string, string> = {}): { code: number; out: string; err: string } {
  let out = '',
    err = '';
  const code = localKeysCommand(
    args,
    env,
    { write: (text) => void (out += text) },
    { write: (text) => void (err += text) },
  );
  return { code, out, err };
}

test('decisions 2: a key is minted for the environment of API_KEY, of the data directory, or of the option', (t) => {
  const dataDir = newDirectory();
  const mint = (...more: string[]) => ['mint', '--label', 'x', '--data-dir', dataDir, ...more];
  t.regex(run(mint(), { API_KEY: 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa' }).out, /"key":"loc_live_/);
  t.regex(run(mint('--environment', 'sandbox')).out, /"key":"loc_test_/);
  const unknown = run(mint());
  t.is(unknown.code, 2);
  t.regex(unknown.err, /which environment\?/);
  t.is(run(mint('--environment', 'prod')).code, 2);
  const storage = openStorage(dataDir);
  storage.setSetting(ENVIRONMENT_SETTING, 'sandbox');
  storage.close();
  t.regex(run(mint()).out, /"key":"loc_test_/);
});

test('found F76: without the settings of an edge no key is minted in some other directory; the directory and environment are named', (t) => {
  const nowhere = run(['mint', '--label', 'x']);
  t.like(nowhere, { code: 2, out: '' });
  t.regex(nowhere.err, /EDGE_DATA_DIR.*API_KEY.*--data-dir/);
  const dataDir = newDirectory();
  const minted = run(['mint', '--label', 'x'], {
    EDGE_DATA_DIR: dataDir,
    API_KEY: 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa',
  });
  t.true(minted.err.includes(`edge in ${dataDir}, live`));
});

test('answers are one JSON line each on standard output; everything for people goes to standard error', (t) => {
  const dataDir = newDirectory();
  const at = (...args: string[]) => run([...args, '--data-dir', dataDir, '--environment', 'live']);
  const minted = JSON.parse(at('mint', '--label', 'one').out) as { id: string; key: string };
  at('mint', '--label', 'two');
  const listed = at('list')
    .out.trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { label: string; revokedAt: string | null });
  t.deepEqual(
    listed.map(({ label }) => label),
    ['one', 'two'],
  );
  t.is(at('revoke', minted.id).code, 0);
  const storage = openStorage(dataDir);
  t.is(new LocalKeys(storage, 'live', Date.now).authenticate(minted.key), null);
  storage.close();
  t.like(at('revoke', 'ek_22222222222222222222222222'), { code: 1, out: '' });
  t.like(at('mint', '--label', ''), { code: 1, out: '' });
});

test('what is not understood is answered with the usage and exit code 2', (t) => {
  for (const args of [
    [],
    ['mint'],
    ['mint', 'x', '--label', 'y'],
    ['list', 'x'],
    ['revoke'],
    ['forget'],
    ['mint', '--lable', 'x'],
    ['revoke', 'a', 'b'],
  ]) {
    const { code, out, err } = run(args);
    t.is(code, 2, args.join(' '));
    t.is(out, '');
    t.regex(err, /usage: flock-edge local-keys/);
  }
});

test('§5.10 a phrase or a private key is no label: a label is shown, and shared with the cloud', (t) => {
  const dataDir = newDirectory();
  const phrase = `${'abandon '.repeat(11)}about`;
  for (const label of [phrase, phrase.toUpperCase(), 'ab'.repeat(32)]) {
    const { code, out, err } = run(['mint', '--label', label, '--data-dir', dataDir, '--environment', 'live']);
    t.deepEqual({ code, out }, { code: 1, out: '' });
    t.regex(err, /KEY_MATERIAL_REJECTED/);
    t.false(err.includes(label));
  }
  t.is(run(['list', '--data-dir', dataDir, '--environment', 'live']).out, '');
});
