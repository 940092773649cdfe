/** Prometheus reads the rules, PostgreSQL the statements of the runbooks. Debian's `prometheus` has promtool. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { parse, stringify } from 'yaml';
import { needsProgram } from '../support/installed.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { ROOT } from '../support/tree.ts';

const FOLDER = join(ROOT, 'deploy/prometheus');

function promtool(...args: string[]): { status: number | null; text: string } {
  needsProgram('promtool', 'prometheus');
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, text: stdout + stderr };
}

test('ecosystem X55 each alert fires, is silent, and does what it should where its series are absent: as promtool says', (t) => {
  const checked = promtool('check', 'rules', `${FOLDER}/flock.rules.yaml`, `${FOLDER}/flock-objectives.rules.yaml`);
  t.is(checked.status, 0, checked.text);
  const tested = promtool('test', 'rules', `${FOLDER}/flock.tests.yaml`, `${FOLDER}/flock-objectives.tests.yaml`);
  t.is(tested.status, 0, tested.text);
});

test('ecosystem X55 a rule on a metric that was renamed fails its test', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-rules-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const read = (name: string) => readFileSync(`${FOLDER}/${name}`, 'utf8');
  writeFileSync(
    `${folder}/flock.rules.yaml`,
    read('flock.rules.yaml').replace('max(svc_mail_unsent)', 'max(svc_mail_waiting)'),
  );
  const all = parse(read('flock.tests.yaml')) as {
    tests: { name: string; alert_rule_test: { alertname: string }[] }[];
  };
  const fires = all.tests.filter(
    ({ name, alert_rule_test: looks }) =>
      name.startsWith('fires') && looks.some(({ alertname }) => alertname === 'FlockMailStuck'),
  );
  t.is(fires.length, 1);
  writeFileSync(`${folder}/flock.tests.yaml`, stringify({ ...all, tests: fires }));
  const tested = promtool('test', 'rules', `${folder}/flock.tests.yaml`);
  t.not(tested.status, 0);
  t.regex(tested.text, /FlockMailStuck/);
});

test('ecosystem X41 every statement that a runbook shows runs on our schema', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.close());
  const statements = readdirSync(`${ROOT}docs/runbooks`).flatMap((name) =>
    [...readFileSync(`${ROOT}docs/runbooks/${name}`, 'utf8').matchAll(/^psql "\$DATABASE_OWNER_URL" -c "(.*)"$/gm)].map(
      ([, statement]) => [name, statement!] as const,
    ),
  );
  t.true(statements.length > 5);
  for (const [name, statement] of statements)
    await t.notThrowsAsync(Promise.resolve(database.owner.unsafe(statement)), `${name}: ${statement}`);
});
