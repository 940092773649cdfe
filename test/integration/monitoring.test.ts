/** Prometheus reads the rules, PostgreSQL the statements of the runbooks. Debian's `prometheus` has promtool. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { parse, stringify } from 'yaml';
import { OBJECTIVES } from '../../deploy/prometheus/objectives.ts';
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

/** Requests of a minute, and of them those that fail, from minute to minute. */
const requests = (failing: readonly (readonly [minutes: number, of1000: number])[]) => {
  const series = (status: string, each: (of1000: number) => number) => {
    let [total, values]: [number, string[]] = [0, ['0']];
    for (const [minutes, of1000] of failing)
      for (let minute = 0; minute < minutes; minute += 1) values = [...values, String((total += each(of1000)))];
    return { series: `svc_requests_total{operation="createAddress",status="${status}"}`, values: values.join(' ') };
  };
  return [
    series('500', (of1000) => of1000),
    series('201', (of1000) => 1_000 - of1000),
    { series: 'svc_refusals_total{code="CHAIN_UNAVAILABLE"}', values: '0x1000' },
  ];
};

test('ecosystem X53 a burst that the budget of 30 days bears wakes nobody; a quick and a slow burn do, and end', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-burns-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const firing = (minute: number, count: number) => ({
    expr: 'count(ALERTS{alertname="FlockApiErrorsBurn",alertstate="firing"}) or vector(0)',
    eval_time: `${minute}m`,
    exp_samples: [{ labels: '{}', value: count }],
  });
  const quiet = [420, 0] as const;
  const tests = [
    { name: 'a burst', series: [quiet, [5, 100], [60, 0]], looks: [firing(426, 0), firing(440, 0)] },
    {
      name: 'a quick burn',
      series: [quiet, [30, 100], [120, 0]],
      looks: [firing(420, 0), firing(450, 1), firing(560, 0)],
    },
    {
      name: 'a slow burn',
      series: [
        [400, 7],
        [60, 0],
      ],
      looks: [firing(399, 1), firing(459, 0)],
    },
    { name: 'what the objective allows', series: [[420, 1]], looks: [firing(419, 0)] },
  ] as const;
  const file = join(folder, 'burns.tests.yaml');
  const text = stringify({
    rule_files: [`${FOLDER}/flock.rules.yaml`, `${FOLDER}/flock-objectives.rules.yaml`],
    evaluation_interval: '1m',
    tests: tests.map(({ name, series, looks }) => ({
      name,
      interval: '1m',
      input_series: requests(series),
      promql_expr_test: looks,
    })),
  });
  writeFileSync(file, text);
  const tested = promtool('test', 'rules', file);
  t.is(tested.status, 0, tested.text);
});

test('ecosystem X53 five objectives of 30 days, each with its alert and its page of what to do', (t) => {
  const rules = parse(readFileSync(`${FOLDER}/flock-objectives.rules.yaml`, 'utf8')) as {
    groups: { rules: { alert?: string; labels?: { severity: string }; annotations?: { runbook: string } }[] }[];
  };
  const alerts = rules.groups.flatMap((group) => group.rules).filter(({ alert }) => alert !== undefined);
  t.deepEqual(
    OBJECTIVES.map(({ name, budget }) => `${name} ${budget}`),
    ['api_errors 0.001', 'api_slow 0.01', 'first_attempts_late 0.001', 'blocks_late 0.005', 'leader_missing 0.001'],
  );
  t.is(alerts.length, OBJECTIVES.length);
  for (const { labels, annotations } of alerts) {
    t.is(labels?.severity, 'page');
    t.true(existsSync(join(ROOT, annotations!.runbook)));
  }
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
