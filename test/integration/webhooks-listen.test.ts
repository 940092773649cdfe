/** `npm run -s flock -- webhooks listen`: the receiver that newcomers paste, as a process. Issue 4.9. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createHmac, randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { EVENTS } from '../../protocol/slugs.ts';
import { exampleOf } from '../../protocol/schema/events.ts';
import { eventually } from '../support/edge/edges.ts';
import { ROOT } from '../support/tree.ts';

const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const LONG_MS = 60_000;

async function listening(t: ExecutionContext, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(
    process.execPath,
    [join(ROOT, 'gateway/cli/flock.ts'), 'webhooks', 'listen', '--port', '0', ...args],
    {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk.toString();
  });
  // all it said has been read by then
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await eventually('it listens', () => /listening on \S+/.test(said.err), LONG_MS);
  return { url: /listening on (\S+)/.exec(said.err)![1]!, said, exited, child };
}

function headersOf(body: string, secret: string, id: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${'A'.repeat(43)}= v1,${mac}`,
  };
}

test('issue 4.9: it answers 204 or 200 to what verifies, prints one line for each, and refuses the rest', async (t) => {
  const { url, said, child, exited } = await listening(t, ['--secret', SECRET]);
  const post = async (body: string, secret: string) =>
    (
      await fetch(url, {
        method: 'POST',
        body,
        headers: headersOf(body, secret, (JSON.parse(body) as { id: string }).id),
      })
    ).status;
  for (const event of EVENTS) t.is(await post(JSON.stringify(exampleOf(event)), SECRET), 200, event);
  t.is(await post(JSON.stringify(exampleOf('edge_online')), `whsec_${randomBytes(24).toString('base64')}`), 401);
  const body = JSON.stringify(exampleOf('edge_online'));
  t.is(
    (await fetch(url, { method: 'POST', body: `${body} `, headers: headersOf(body, SECRET, 'evt_1') })).status,
    401,
    'one byte more',
  );
  t.is((await fetch(url)).status, 405);
  child.kill('SIGTERM');
  t.is(await exited, 0);
  const lines = said.out.trimEnd().split('\n');
  t.deepEqual(
    lines.map((line) => line.split(' ')[0]),
    [...EVENTS],
  );
  t.true(lines.every((line) => / verified \{/.test(line)));
  t.is(said.err.match(/does not verify/g)?.length, 2);
  t.false(`${said.out}${said.err}`.includes(SECRET));
});

test('without a secret it says on each line that nothing was verified; the secret may come by WEBHOOK_SECRET', async (t) => {
  const open = await listening(t, []);
  t.is((await fetch(open.url, { method: 'POST', body: JSON.stringify(exampleOf('edge_online')) })).status, 200);
  await eventually('the line is there', () => open.said.out.includes('\n'), LONG_MS);
  t.regex(open.said.out, /^edge_online evt_\S+ confirmations=- not verified \{/);
  t.regex(open.said.err, /signatures are not checked/);
  const closed = await listening(t, [], { WEBHOOK_SECRET: SECRET });
  t.is((await fetch(closed.url, { method: 'POST', body: JSON.stringify(exampleOf('edge_online')) })).status, 401);
});
