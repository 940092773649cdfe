/** Alerts and runbooks rest on what there is: the catalogue, pages, routes, commands. Ecosystem X41, X53–X55. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { dashboardFile, DASHBOARDS } from '../../deploy/grafana/dashboards.ts';
import { ALERTS } from '../../deploy/prometheus/alerts.ts';
import { runbookOf } from '../../deploy/prometheus/files.ts';
import { OBJECTIVES, RECORDED, WINDOWS } from '../../deploy/prometheus/objectives.ts';
import { CATALOGUE, faultsOf } from '../../deploy/prometheus/series.ts';
import { monitoringFiles } from '../../deploy/write.ts';
import { ERRORS } from '../../protocol/errors.ts';
import { PROCESS_METRICS } from '../../protocol/metrics/process.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { filesOf, ROOT } from '../support/tree.ts';

/** X54. */
const ASKED =
  'Down ScrapeMissing MetricAbsent ApiErrorsBurn ApiSlowBurn FirstAttemptBurn BlocksLateBurn LeaderMissingBurn EventsStuck DeadLettersRising FactsContradicted FactsSetAside Discrepancy ChainBehind ChainStopped TracesLost NonceGap OutboundStuck EdgeOffline EdgeOutboxPoisoned EdgeAlarm EdgeVersionOld LeaseFlapping ShardUnowned ClockOff PoolLow GasTankLow MailStuck PostgresLag ArchiveFailing BackupOld DiskLow CertificateEnds EventLoopBlocked RedisDown'.split(
    ' ',
  );
const INCIDENTS =
  'node-lost chain-behind endpoints-contradict dead-letters leaked-key leaked-phrase edge-lost cloud-compromised restore wrong-credit'.split(
    ' ',
  );

test('ecosystem X54 every alert that is asked for is there, each once', (t) => {
  const names = ALERTS.map(({ name }) => name);
  t.is(new Set(names).size, names.length);
  t.deepEqual(
    ASKED.filter((name) => !names.some((one) => one === `Flock${name}`)),
    [],
  );
});

test('ecosystem X55 fault 39: every name, label and value in a rule is in the catalogue, so that a renamed metric leaves no rule that never fires', (t) => {
  for (const { name, expr } of ALERTS) t.deepEqual(faultsOf(expr, RECORDED), [], name);
  for (const objective of OBJECTIVES)
    for (const window of WINDOWS) t.deepEqual(faultsOf(objective.bad(window), RECORDED), [], objective.name);
  for (const [query, said] of [
    ['max(svc_blocks_late) > 0', /svc_blocks_late is in no catalogue/],
    ['svc_chain_stopped{network="eth"} == 1', /no label network/],
    ['svc_chain_stopped{chain="dogecoin"} == 1', /chain is never dogecoin/],
    ['svc_requests_total{operation=~"createAddress|makeCoffee"} > 0', /operation is never/],
    ['sum by (account) (svc_blocks_behind) > 1', /has the label account/],
    ['svc_http_request_seconds > 1', /in no catalogue/],
    ['rate(svc_http_request_seconds_bucket{le="0.31"}[5m]) > 1', /le is never 0.31/],
    ['up{job="flok"} == 0', /no job flok/],
    ['vector(1)', /no series/],
  ] as const)
    t.regex(faultsOf(query).join('; '), said, query);
});

test('ecosystem X55 what Prometheus and Grafana read is made of the sources beside it', (t) => {
  for (const [path, text] of Object.entries(monitoringFiles()))
    t.is(readFileSync(ROOT + path, 'utf8'), text, `${path} is out of date: npm run -s deploy:monitoring`);
});

test('ecosystem X52 fault 42: six dashboards with one variable for the source of data, every query on what there is, every page there', (t) => {
  t.is(DASHBOARDS.length, 6);
  t.is(new Set(DASHBOARDS.map(({ uid }) => uid)).size, 6);
  for (const dashboard of DASHBOARDS) {
    for (const { title, queries, runbook } of dashboard.panels) {
      for (const [query, legend] of queries) {
        t.deepEqual(faultsOf(query, RECORDED), [], `${title}: ${query}`);
        t.notRegex(query, /(?:rate|increase)\([^[]*\[(?!\$__rate_interval)/, title);
        for (const [, label] of legend.matchAll(/\{\{(\w+)\}\}/g))
          t.true(label === 'instance' || label === 'job' || query.includes(label!), `${title}: ${label!}`);
      }
      if (runbook !== undefined) t.true(existsSync(`${ROOT}docs/runbooks/${runbook}.md`), runbook);
    }
    const text = dashboardFile(dashboard);
    const { templating, panels } = JSON.parse(text) as {
      templating: { list: { name: string; type: string }[] };
      panels: { datasource: { uid: string } }[];
    };
    t.deepEqual(
      templating.list.map(({ name, type }) => [name, type]),
      [['datasource', 'datasource']],
    );
    for (const { datasource } of panels) t.is(datasource.uid, '${datasource}');
    t.notRegex(text, /__inputs|https?:/);
  }
});

const PAGES = readdirSync(`${ROOT}docs/runbooks`).filter((name) => name !== 'README.md');
const pageText = (name: string): string => readFileSync(`${ROOT}docs/runbooks/${name}`, 'utf8');

test('ecosystem X41 each alert and each incident has a page, and no page is of neither', (t) => {
  const wanted = new Set([
    ...ALERTS.map((alert) => runbookOf(alert).replace('docs/runbooks/', '')),
    ...INCIDENTS.map((name) => `${name}.md`),
  ]);
  t.deepEqual(
    [...wanted].filter((page) => !PAGES.includes(page)),
    [],
    'without a page',
  );
  t.deepEqual(
    PAGES.filter((page) => !wanted.has(page)),
    [],
    'a page of nothing',
  );
  const list = pageText('README.md');
  for (const page of wanted) t.true(list.includes(`](${page})`), page);
  for (const alert of ALERTS) {
    t.true(existsSync(ROOT + runbookOf(alert)), alert.name);
    t.notRegex(runbookOf(alert), /:\/\//, 'names no machine');
    t.true(pageText(runbookOf(alert).replace('docs/runbooks/', '')).startsWith(`# ${alert.name}\n`), alert.name);
  }
});

/** Programs of the system that a page may show. */
const SYSTEM = ['systemctl', 'journalctl', 'promtool', 'redis-cli', 'timedatectl', 'openssl', 'df', 'du', 'psql'];
const operations = new Set<string>(ROUTE_LIST.map(({ operationId }) => operationId));
/** What the command `api` can call: its profiles hold keys, and these answer people alone by UNAUTHORIZED. */
const forKeys = new Set<string>(
  ROUTE_LIST.filter(({ credential }) => credential === 'application').map(({ operationId }) => operationId),
);
const isRoute = (path: string): boolean =>
  ROUTE_LIST.some((route) => new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path));
const wordsOf = (file: string): string[] =>
  [...readFileSync(ROOT + file, 'utf8').matchAll(/usage: '([^']+)'|operator\(\s*'([^']+)'/g)].map(
    ([, usage, name]) => usage ?? name!,
  );
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  flock: [...wordsOf('gateway/cli/flock.ts'), ...wordsOf('clients/cli/commands.ts')],
  'flock-edge': wordsOf('edge/cli/flock-edge.ts'),
};

/** What is wrong with a command that a page shows; null: nothing. */
function faultOf(command: string): string | null {
  const [program = ''] = command.split(' ');
  const path = /"\$(?:CLOUD|NODE|EDGE)(\/[^"\s]*)"/.exec(command)?.[1];
  if (path !== undefined && path !== '/metrics' && !isRoute(path)) return `no route ${path}`;
  for (const [name] of command.matchAll(/\b(?:svc|nodejs|process)_[a-z0-9_]+/g)) {
    const known = [...Object.keys(CATALOGUE), ...Object.keys(PROCESS_METRICS)];
    if (!known.some((one) => one.startsWith(name) || `${one}_sum` === name)) return `no metric ${name}`;
  }
  const own = /^npm run -s (flock|flock-edge) -- (.*)$/.exec(command);
  if (own !== null) {
    const words = own[2]!.split(' ');
    if (words[0] === 'api' && own[1] === 'flock')
      return forKeys.has(words[1]!) ? null : `no operation that a key calls: ${words[1]!}`;
    const usage = PROGRAMS[own[1]!]!.find((each) => each.split(/[ |]/)[0] === words[0]);
    if (usage === undefined) return `${own[1]!} has no command ${words[0]!}`;
    const verbs = words
      .slice(1)
      .filter((word) => /^[a-z-]+$/.test(word) && !word.startsWith('-') && !word.includes('.'));
    return verbs[0] === undefined || usage.includes(verbs[0]) ? null : `${own[1]!} ${words[0]!} has no ${verbs[0]}`;
  }
  return program === 'curl' || SYSTEM.includes(program) ? null : `${program} is no command of ours`;
}

test('ecosystem X41 every command that a page shows is one that there is, and every metric is in the catalogue', (t) => {
  let shown = 0;
  for (const page of PAGES) {
    const text = pageText(page);
    const commands = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block!.trim().split('\n'));
    t.true(commands.length > 0, page);
    shown += commands.length;
    for (const command of commands) t.is(faultOf(command), null, `${page}: ${command}`);
    for (const [, name] of text.matchAll(/`(svc_\w+)`/g)) t.true(name! in CATALOGUE, `${page}: ${name!}`);
    for (const [, words] of text.matchAll(/`(flock(?:-edge)? [a-z][^`]*)`/g))
      t.is(faultOf(`npm run -s ${words!.replace(' ', ' -- ')}`), null, `${page}: ${words!}`);
    for (const [, path] of text.matchAll(/`(?:GET|POST|PUT|DELETE) (\/[^`]+)`/g))
      t.true(isRoute(path!), `${page}: ${path!}`);
  }
  t.true(shown > 100);
  for (const wrong of [
    'curl -fsS "$CLOUD/v1/admin/noodles"',
    'npm run -s flock -- api listDeadLettuce',
    'npm run -s flock -- api listApiKeys',
    'npm run -s flock-edge -- outbox explode',
    'npm run -s flock -- fix everything',
    'curl -fsS "$NODE/metrics" | grep svc_blocks_late',
    'flockctl restart',
  ])
    t.not(faultOf(wrong), null, wrong);
});

test('ecosystem X43 every command of ours, route, operation, setting and metric that a guide names is one that there is', (t) => {
  const guides = filesOf(['docs/guides'], '.md');
  const settings = readFileSync(`${ROOT}docs/configuration.md`, 'utf8');
  t.true(guides.length > 15);
  for (const { path, text } of guides) {
    const commands = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block!.trim().split('\n'));
    for (const command of commands.map((line) => line.replace(/\s+#.*/, '')))
      if (/^npm run -s flock|^curl|\bsvc_/.test(command)) t.is(faultOf(command), null, `${path}: ${command}`);
    for (const [, words] of text.matchAll(/`(flock(?:-edge)? [a-z][^`]*)`/g))
      t.is(faultOf(`npm run -s ${words!.replace(' ', ' -- ')}`), null, `${path}: ${words!}`);
    for (const [, name] of text.matchAll(/`(svc_\w+)`/g)) t.true(name! in CATALOGUE, `${path}: ${name!}`);
    for (const [, name] of text.matchAll(/`((?:EDGE|DATABASE|CLUSTER|METRICS)_[A-Z_]+(?:<CHAIN>)?)`/g))
      t.true(name! in ERRORS || settings.includes(`\`${name!}\``), `${path}: ${name!}`);
    // A name in camel case is an operation, or one of the clients; that page also has names of other products.
    if (path.endsWith('/moving-from.md')) continue;
    for (const [, name] of text.matchAll(/`([a-z]+(?:[A-Z][a-z]+)+)`/g))
      t.true(operations.has(name!) || NAMES.test(name!), `${path}: ${name!} is no operation`);
  }
});
/** Names in guides that are no operations: of the clients, and fields. */
const NAMES =
  /^(?:verifyWebhook|creditKey|userRef|outputIndex|chainTag|paymentRef|previewHash|minAmount|scheduleCron|scheduleTimeZone|displayName|successUrl|amountConfirmed|autoConfirm|isReversed)$/;
