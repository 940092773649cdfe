/** `flock` as a process against a real cloud and edge. Ecosystem X22–X36. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { commandHome, runCommand } from '../support/command.ts';
import { openDeveloper } from '../support/developer.ts';

const flock = await openDeveloper();
const { deployment } = flock;
const { env, folder, remove } = commandHome();

test.after.always(async () => {
  await flock.close();
  remove();
});

const json = async (args: readonly string[], input?: string): Promise<unknown> => {
  const { code, out, err } = await runCommand([...args, '--json'], { env, ...(input === undefined ? {} : { input }) });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`);
  return JSON.parse(out);
};

test.serial('ecosystem X22 login at the cloud and at the edge, and the same operation at both', async (t) => {
  const [cloud, edge] = [deployment.record.sandbox.cloudApiKey, deployment.localApiKey];
  t.like(await json(['login', '--url', deployment.cloudUrl], cloud), { profile: 'default', side: 'cloud' });
  t.like(await json(['login', '--edge', deployment.edgeUrl, '--profile', 'edge'], edge), { side: 'edge' });
  const made = (await json(['api', 'createAddress', '--chain', 'eth', '--user-ref', '042', '--profile', 'edge'])) as {
    id: string;
    userRef: string;
  };
  t.is(made.userRef, '042');
  t.like(await json(['api', 'getAddress', made.id]), { id: made.id, userRef: '042' });
  const refusal = await runCommand(['api', 'getAddress', 'adr_none', '--json'], { env });
  t.is(refusal.code, 4);
  t.like(JSON.parse(refusal.out), { error: { code: 'NOT_FOUND' } });
  const stranger = await runCommand(['login', '--url', deployment.cloudUrl], {
    env,
    input: `${cloud.slice(0, -4)}aaaa`,
  });
  t.is(stranger.code, 3);
  t.like(await json(['whoami']), { environment: 'sandbox', profile: 'default' }, 'the profile before it stays');
});

test.serial('ecosystem X22 login --dev takes what npm start keeps', async (t) => {
  writeFileSync(join(folder, 'seed.json'), JSON.stringify(deployment.record));
  writeFileSync(join(folder, 'local-key.sandbox'), `${deployment.localApiKey}\n`);
  const dev = ['login', '--dev', '--data-dir', folder, '--profile', 'dev'];
  t.like(await json([...dev, '--url', deployment.cloudUrl]), { side: 'cloud', environment: 'sandbox' });
  t.like(await json([...dev, '--edge', deployment.edgeUrl]), { side: 'edge', environment: 'sandbox' });
});
