/** The operator's commands as processes on a real database: what they make is what REST then knows. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

/** Runs `flock WORDS`; the answer is the JSON line of standard output. The cloud of this process goes on meanwhile. */
async function flock(
  words: readonly string[],
  input = '',
  env: Record<string, string> = { DATABASE_URL: cloud.database.url },
) {
  const child = spawn(process.execPath, ['gateway/cli/flock.ts', ...words], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  child.stdin.end(input);
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code))),
  ]);
  return {
    status,
    stdout,
    stderr,
    answer: (stdout.startsWith('{') ? JSON.parse(stdout) : {}) as Record<string, string>,
  };
}

test('issue 2.10 a user, an organization and an API key by commands: the owner signs in, the key works in its environment only', async (t) => {
  const user = await flock(['users', 'create', '--email', 'Ada@Example.com'], 'a password of hers\n');
  t.is(user.status, 0, user.stderr);
  t.deepEqual(Object.keys(user.answer), ['id', 'email', 'admin'], 'a password that was given is not shown');
  const made = await flock([
    'organizations',
    'create',
    '--name',
    'Ada & Co',
    '--owner',
    'ada@example.com',
    '--tier',
    'premium',
    '--band',
    'growth',
  ]);
  t.like(made.answer, {
    name: 'Ada & Co',
    owner: 'ada@example.com',
    tier: 'premium',
    band: 'growth',
    subscription: 'active',
  });
  const { accessToken, role } = await createClient({ baseUrl: cloud.url }).must('login', {
    body: { email: 'ada@example.com', password: 'a password of hers' },
  });
  t.is(role, 'owner');
  t.like((await createClient({ baseUrl: cloud.url, bearer: accessToken }).must('getUsage')).plan, {
    tier: 'premium',
    band: 'growth',
  });
  const minted = await flock([
    'api-keys',
    'mint',
    '--organization',
    made.answer['id']!,
    '--environment',
    'sandbox',
    '--label',
    'first',
  ]);
  t.regex(minted.answer['key']!, /^flk_test_[a-z2-7]{39}$/);
  const app = createClient({ baseUrl: cloud.url, apiKey: minted.answer['key']! });
  t.deepEqual((await app.must('listAddresses')).content, []);
  t.is(
    (await cloud.identity.apiKeys(made.answer['id']!))
      .map(({ label, environment }) => `${label} ${environment}`)
      .join(),
    'first sandbox',
  );
});

test('issue 2.10 without a password one is made and shown this once; what is wrong is told with exit code 2 and changes nothing', async (t) => {
  const user = await flock(['users', 'create', '--email', 'grace@example.com', '--admin']);
  t.regex(user.answer['password']!, /^[A-Za-z0-9_-]{24}$/);
  await t.notThrowsAsync(
    createClient({ baseUrl: cloud.url }).must('login', {
      body: { email: 'grace@example.com', password: user.answer['password']! },
    }),
  );
  t.is((await cloud.identity.userByEmail('grace@example.com'))?.platformRole, 'admin');
  const short = await flock(['users', 'create', '--email', 'short@example.com'], 'eleven char\n');
  t.is(short.status, 2);
  t.regex(short.stderr, /the password is too_short: take 15 characters/);
  t.is(await cloud.identity.userByEmail('short@example.com'), null);
  for (const [words, said] of [
    [['users', 'create', '--email', 'GRACE@example.com'], 'exists'],
    [['users', 'create', '--email', 'nobody'], '--email'],
    [['users', 'create', '--mail', 'x@y'], 'users create'],
    [['organizations', 'create', '--name', 'X', '--owner', 'nobody@example.com'], '--owner'],
    [['organizations', 'create', '--name', 'X', '--owner', 'grace@example.com', '--tier', 'gold'], '--tier'],
    [['api-keys', 'mint', '--organization', 'org_none', '--environment', 'live', '--label', 'x'], '--organization'],
    [['users'], 'usage'],
  ] as const) {
    const { status, stderr, stdout } = await flock(words);
    t.is(status, 2, words.join(' '));
    t.true(stderr.includes(said) && stdout === '', `${words.join(' ')}: ${stderr}`);
  }
  t.regex((await flock(['users', 'create', '--email', 'x@example.com'], '', {})).stderr, /^DATABASE_URL is needed/);
});
