/** The files that Prometheus and promtool read, made of the alerts. */
import { stringify } from 'yaml';
import type { Alert, Input } from './alert.ts';
import { ALERTS } from './alerts.ts';
import { OBJECTIVES, recordedName, WINDOWS } from './objectives.ts';

const HEAD = '# Made by `npm run -s deploy:monitoring` of deploy/prometheus/alerts.ts; a test holds them together.\n';
const YAML = { lineWidth: 0, aliasDuplicateObjects: false } as const;
/** The page of an alert, a path in this repository: where the pages are served is the operator's to say. */
export const runbookOf = ({ name }: Pick<Alert, 'name'>): string =>
  `docs/runbooks/${name
    .replace(/^Flock/, '')
    .replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`)
    .toLowerCase()}.md`;

const RECORDINGS = OBJECTIVES.flatMap((objective) =>
  WINDOWS.map((window) => ({ record: recordedName(objective, window), expr: objective.bad(window) })),
);

const isBurn = ({ expr }: Alert): boolean => expr.includes('flock:');
const BURNS = ALERTS.filter(isBurn);
const OTHERS = ALERTS.filter((alert) => !isBurn(alert));

const ruleOf = (alert: Alert) => ({
  alert: alert.name,
  expr: alert.expr,
  for: alert.for,
  labels: { severity: alert.severity },
  annotations: { summary: alert.summary, runbook: runbookOf(alert) },
});
const rules = (groups: object): string => HEAD + stringify(groups, YAML);

/** deploy/prometheus/flock.rules.yaml */
export const rulesFile = (): string => rules({ groups: [{ name: 'flock', rules: OTHERS.map(ruleOf) }] });

/** deploy/prometheus/flock-objectives.rules.yaml: what is recorded, and the alerts on it. */
export const objectivesFile = (): string =>
  rules({ groups: [{ name: 'flock-objectives', interval: '1m', rules: [...RECORDINGS, ...BURNS.map(ruleOf)] }] });

function expected(alert: Alert, labels: Readonly<Record<string, string>>) {
  const summary = alert.summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');
  return [
    {
      exp_labels: { severity: alert.severity, ...labels },
      exp_annotations: { summary, runbook: runbookOf(alert) },
    },
  ];
}

const minutes = (duration: string): number => Number(duration.slice(0, -1)) * (duration.endsWith('h') ? 60 : 1);
/** When a test of an alert looks: a rate needs some samples, an objective all of its windows. */
const evalTime = (alert: Alert): string => (isBurn(alert) ? '400m' : `${minutes(alert.for) + 12}m`);

const testOf = (name: string, input: Input, looks: readonly [Alert, readonly object[]][]) => ({
  name,
  interval: '1m',
  input_series: Object.entries(input).map(([series, values]) => ({ series, values })),
  alert_rule_test: looks.map(([alert, alerts]) => ({
    eval_time: evalTime(alert),
    alertname: alert.name,
    exp_alerts: alerts,
  })),
});

/** Names of all series that an alert asks for or is tested with. */
function namesOf({ expr, fires, silent }: Alert): Set<string> {
  const texts = [expr, ...Object.keys(fires), ...Object.keys(silent)].join(' ').replace(/"[^"]*"/g, '');
  return new Set(texts.match(/\b(?:svc_|nodejs_|flock:)\w+|\bup\b/g));
}

/** Alerts that share no series are tested together: each test costs a storage. */
function apart(alerts: readonly Alert[]): (readonly Alert[])[] {
  const groups: { names: Set<string>; alerts: Alert[] }[] = [];
  for (const alert of alerts) {
    const names = namesOf(alert);
    const group = groups.find((one) => one.names.isDisjointFrom(names));
    if (group === undefined) groups.push({ names, alerts: [alert] });
    else {
      group.alerts.push(alert);
      group.names = group.names.union(names);
    }
  }
  return groups.map((group) => group.alerts);
}

const inputOf = (alerts: readonly Alert[], of: 'fires' | 'silent'): Input =>
  Object.assign({}, ...alerts.map((alert) => alert[of])) as Input;

/** An alert fires, is silent, and does what it should where its series are absent. */
function tests(file: string, interval: string, alerts: readonly Alert[]): string {
  const groups = apart(alerts);
  const all = [
    ...groups.map((group, at) =>
      testOf(
        `fires ${at + 1}`,
        inputOf(group, 'fires'),
        group.map((alert) => [alert, expected(alert, alert.labels ?? {})]),
      ),
    ),
    ...groups.map((group, at) =>
      testOf(
        `silent ${at + 1}`,
        inputOf(group, 'silent'),
        group.map((alert) => [alert, []]),
      ),
    ),
    testOf(
      'without series',
      {},
      alerts.map((alert) => [alert, alert.absent === undefined ? [] : expected(alert, alert.absent)]),
    ),
  ];
  return HEAD + stringify({ rule_files: [file], evaluation_interval: interval, tests: all }, YAML);
}

/** deploy/prometheus/flock.tests.yaml */
export const testsFile = (): string => tests('flock.rules.yaml', '1m', OTHERS);

/** deploy/prometheus/flock-objectives.tests.yaml */
export const objectivesTestsFile = (): string => tests('flock-objectives.rules.yaml', '10m', BURNS);
