/** What `npm start` and `npm run demo` say before anything runs: options, ports, what is played on. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { nodesOf } from '../../../supervision/dev/demo-chain.ts';
import { inUse } from '../../../supervision/dev/embedded-postgres.ts';
import { startOptions } from '../../../supervision/dev/options.ts';
import { requireFreePorts } from '../../../supervision/dev/ports.ts';
import { CHAINS, FAMILY_OF } from '../../../protocol/slugs.ts';
import { ROOT } from '../../support/tree.ts';

test('issue 2.1: the demo calls a node real where one runs, and a stand-in what is one', (t) => {
  for (const chain of CHAINS) {
    const stage = readFileSync(`${ROOT}supervision/dev/demo-${FAMILY_OF[chain]}.ts`, 'utf8');
    t.regex(nodesOf(chain), /from '\.\/peers\//.test(stage) ? /stand-in/ : /^a real /, chain);
    t.false(/from '\.\/peers\//.test(stage) && /real/.test(nodesOf(chain)), chain);
  }
});

test('issue 2.1: an option that npm kept for itself is named, not passed over', (t) => {
  const error = t.throws(() => startOptions([], { npm_config_fresh: 'true' }), { instanceOf: RangeError });
  t.regex(error.message, /npm start -- --fresh/);
  t.regex(t.throws(() => startOptions([], { npm_config_data_dir: 'true' })).message, /npm start -- --data-dir/);
  t.true(startOptions(['--fresh'], {}).fresh);
});

test('issue 2.1: a port that this user may not have is not called taken', async (t) => {
  const listen = async (port: number): Promise<string | null> => (port === 81 ? 'EACCES' : null);
  const error = await t.throwsAsync(requireFreePorts([{ setting: 'CLOUD_PORT', port: 8_080 }, { setting: 'EDGE_PORT', port: 81 }], 5_000, listen));
  t.regex(error.message, /^port 81 \(EDGE_PORT\) cannot be used by this user \(EACCES\)$/m);
  t.regex(error.message, /EDGE_PORT=8181 npm start/, 'one that it may have');
});

test('issue 2.1: a server that outlived its Flock is not called another Flock', (t) => {
  t.regex(inUse('/data/cluster', [1_412, 1_403, 1_413], false), /\(pid 1412, 1403, 1413\): .*does not end by itself.*kill -INT 1403$/);
  t.regex(inUse('/data/cluster', [1_403], true), /another Flock runs on the same data; stop it first/);
});
