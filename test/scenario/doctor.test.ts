/** `doctor` of application and edge against a healthy deployment. Ecosystem X34, X35, XA4. */
import test from 'ava';
import type { Examination } from '../../protocol/node/doctor/examine.ts';
import { openDeveloper } from '../support/developer.ts';
import { commandHome, nobodyAt, runCommand, type CommandEnv } from '../support/command.ts';
import { patiently } from '../support/patience.ts';

const flock = await openDeveloper();
const { deployment } = flock;
const home = commandHome();

test.after.always(async () => {
  await flock.close();
  home.remove();
});

const asked = async (args: readonly string[], env: CommandEnv, entry?: string) => {
  const { code, out, err } = await runCommand([...args, '--json'], { env, ...(entry === undefined ? {} : { entry }) });
  return { code, err, ...(JSON.parse(out) as Examination) };
};
/** On a busy machine a check may be late: then it is not known, and asked again. */
const known = (args: readonly string[], env: CommandEnv, entry?: string) =>
  patiently(
    args.join(' '),
    () => asked(args, env, entry),
    ({ checks }) => checks.every(({ seen: what }) => !what.startsWith('no answer within')),
  );
const seen = ({ checks }: Examination): string =>
  checks
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ id, verdict, seen: what }) => `${id} ${verdict}: ${what}`)
    .join('\n');

const CHECK = /^svc_check\{check="(\w+)",side="\w+"\} (\d)$/gm;

const APPLICATION = () => ({
  ...home.env,
  FLOCK_URL: deployment.cloudUrl,
  FLOCK_API_KEY: deployment.record.sandbox.cloudApiKey,
});

test.serial('ecosystem X35 XA4 the doctor of an application is all ok at a healthy cloud and edge', async (t) => {
  const cloud = await known(['doctor', '--strict'], APPLICATION());
  t.is(cloud.code, 0, `${seen(cloud)}${cloud.err}`);
  t.is(cloud.verdict, 'ok');
  const edge = { ...home.env, FLOCK_URL: deployment.edgeUrl, FLOCK_API_KEY: deployment.localApiKey };
  const atEdge = await known(['doctor', '--strict'], edge);
  t.is(atEdge.code, 0, `${seen(atEdge)}${atEdge.err}`);
  t.deepEqual(
    atEdge.checks.map(({ id }) => id),
    cloud.checks.map(({ id }) => id),
  );
  const sent = await known(['doctor', '--strict', '--send'], edge);
  t.is(sent.code, 0, `${seen(sent)}${sent.err}`);
  t.is(sent.checks.at(-1)?.id, 'test_delivery');
});

test.serial('ecosystem X35 XA4 the doctor of the edge is all ok beside a running edge', async (t) => {
  const healthy = await known(['doctor', '--strict'], deployment.settings.edge, 'edge/cli/flock-edge.ts');
  t.is(healthy.code, 0, `${seen(healthy)}${healthy.err}`);
});

test.serial(
  'ecosystem X35 XA4 the doctor of the cloud notes of a healthy node what a server of tests lacks',
  async (t) => {
    const { checks } = await known(['doctor', '--cloud'], deployment.settings.cloud);
    const noted = checks.filter(({ verdict }) => verdict !== 'ok').map(({ id, seen: what }) => `${id}: ${what}`);
    // What the server of tests is started with for speed: nothing of it is kept.
    const isOfTests = (one: string): boolean => /^database_(?:durability: fsync is off|pages: )/.test(one);
    t.deepEqual(
      noted.filter((one) => !isOfTests(one)),
      [],
    );
    t.true(
      noted.some((one) => one.startsWith('database_durability')),
      'fsync = off is seen',
    );
  },
);

test.serial('ecosystem X36 the figures of both, and the status page, say what the doctors say', async (t) => {
  const read = async (url: string) => (await fetch(url)).text();
  const seen = (side: 'cloud' | 'edge', url: string) =>
    patiently(
      `svc_check of the ${side}`,
      async () => new Map([...(await read(`${url}/metrics`)).matchAll(CHECK)].map(([, id, at]) => [id!, `${at!}`])),
      (checks) => checks.size > 0,
    );
  const [cloud, edge] = [await seen('cloud', deployment.cloudUrl), await seen('edge', deployment.edgeUrl)];
  const doctor = await known(['doctor', '--cloud'], deployment.settings.cloud);
  t.deepEqual(
    [...cloud.keys()],
    doctor.checks.map(({ id }) => id),
  );
  t.is(cloud.get('database_durability'), '3', 'fsync = off is seen');
  t.is(cloud.get('migrations'), '1');
  t.is(edge.get('lease'), '1');
  t.is(edge.get('journal'), undefined, 'only the command reads the whole database');
  t.regex(await read(`${deployment.edgeUrl}/`), /<dt>Checks<\/dt><dd class="\w+">\d+ of \d+ ok<small>looked at/);
});

test.serial(
  'ecosystem X34 a doctor whose edge is gone says so with exit code 1, and --strict counts what is not known',
  async (t) => {
    await deployment.edge.stop();
    const gone = await patiently(
      'no leader',
      () => known(['doctor'], APPLICATION()),
      ({ checks }) => checks.some(({ id, verdict }) => id === 'leader' && verdict === 'fail'),
    );
    t.is(gone.code, 1);
    const edge = await known(['doctor'], deployment.settings.edge, 'edge/cli/flock-edge.ts');
    t.deepEqual([edge.code, edge.verdict], [1, 'fail']);
    t.like(
      edge.checks.find(({ id }) => id === 'processes'),
      { seen: 'no edge runs on it' },
    );
    const nobody = {
      ...home.env,
      FLOCK_URL: await nobodyAt(),
      FLOCK_API_KEY: deployment.record.sandbox.cloudApiKey,
    };
    t.is((await known(['doctor'], nobody)).code, 1);
    const people = await patiently(
      'nobody answers',
      () => runCommand(['doctor', '--strict'], { env: nobody }),
      ({ out }) => /^fail +address +nothing answers \(ECONNREFUSED\)\n +→ .*\(docs\//m.test(out),
    );
    t.is(people.code, 1);
    t.is((await runCommand(['doctor', '--nonsense'], { env: nobody })).code, 2);
  },
);
