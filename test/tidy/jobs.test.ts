/** docs/jobs.md has every schedule and timer of the cloud, and says why a job runs once over all nodes. Issue 10. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { jobsOf } from '../../supervision/schedules.ts';
import { filesOf, ROOT, type SourceFile } from '../support/tree.ts';

/** Rooms that run in a cloud node's process. */
const CLOUD = ['actors', 'chain-watchers', 'chains', 'cluster', 'gateway', 'persistence', 'supervision'];
/** Whatever makes something happen later. */
const TIMER =
  /\bset(?:Interval|Timeout|Timer)\(|\btimers\.after\(|\bspawnWorker(?:<[^>]*>)?\(|\bschedule\('|'(?:node:)?timers\/promises'/g;
/** Where the work of a worker is named. */
const WORKER = /[`'](schedules|watchers|audits)\/((?:[\w-]|\$\{\w+(?:\.\w+)*\})+)[`']/g;

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

const timersOf = ({ text }: Pick<SourceFile, 'text'>): number => [...withoutComments(text).matchAll(TIMER)].length;

/** Workers by the path of their spawn; those of `jobsOf` by its list. */
function workersOf({ text }: Pick<SourceFile, 'text'>): string[] {
  return [...withoutComments(text).matchAll(WORKER)].flatMap(([, kind, name]) =>
    name === '${job.job}'
      ? claimed().map((job) => `${kind}/${job}`)
      : [`${kind}/${name!.replace('${chain}', '<chain>').replace('${round}', 'N')}`],
  );
}

const claimed = (): string[] => jobsOf({} as Parameters<typeof jobsOf>[0]).map(({ job }) => job);

interface Documented {
  readonly jobs: readonly { readonly job: string; readonly where: string; readonly why: string }[];
  readonly timers: ReadonlyMap<string, number>;
}

function documented(): Documented {
  const text = readFileSync(`${ROOT}docs/jobs.md`, 'utf8');
  const rows = (heading: string) =>
    text
      .split(`## ${heading}\n`)[1]!
      .split('\n## ')[0]!
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| job ') && !line.startsWith('| file '))
      .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  return {
    jobs: rows('Jobs').map(([, job, , where, why]) => ({ job: job!, where: where!, why: why! })),
    timers: new Map(rows('Timers').map(([, file, count]) => [file!, Number(count)])),
  };
}

/** What the documents do not say of these files, and what they say that is not so. */
function faultsOf(files: readonly SourceFile[], { jobs, timers }: Documented): string[] {
  const faults: string[] = [];
  for (const file of files) {
    for (const worker of workersOf(file))
      if (!jobs.some(({ job, where }) => job === worker && where === file.path))
        faults.push(`${file.path}: ${worker} is not in docs/jobs.md`);
    const count = timersOf(file);
    if (count !== (timers.get(file.path) ?? 0))
      faults.push(`${file.path}: sets ${count} timers, docs/jobs.md says ${timers.get(file.path) ?? 0}`);
  }
  const byPath = new Map(files.map((file) => [file.path, file]));
  for (const { job, where } of jobs) {
    const file = byPath.get(where);
    if (file === undefined || timersOf(file) === 0) faults.push(`docs/jobs.md: nothing is scheduled in ${where}`);
    else if (job.includes('/') && !workersOf(file).includes(job)) faults.push(`docs/jobs.md: ${where} has no ${job}`);
  }
  for (const path of [...timers.keys()].filter((one) => !byPath.has(one)))
    faults.push(`docs/jobs.md: ${path} does not exist`);
  return faults;
}

const FILES = filesOf(CLOUD, '.ts').filter(({ path }) => !path.startsWith('gateway/cli/'));

test('every schedule and timer of a cloud node is in docs/jobs.md, with why it runs once', (t) => {
  const found = documented();
  t.true(found.jobs.length >= 15);
  t.deepEqual(faultsOf(FILES, found), []);
  for (const { job, why } of found.jobs) {
    const [, name] = /rows of (\w+)/.exec(why) ?? (why === 'claim_job' ? ['', why] : []);
    if (name === undefined)
      t.regex(why, /^(?:owner of the account|follower of the chain|each node its own row)/, `${job}: ${why}`);
    else
      t.regex(
        readFileSync(`${ROOT}persistence/postgres/functions/${name}.sql`, 'utf8'),
        /for (?:no key )?update.*skip locked/s,
        job,
      );
  }
  t.deepEqual(
    claimed().filter((name) => found.jobs.find(({ job }) => job === `schedules/${name}`)?.why !== 'claim_job'),
    [],
  );
});

test('a schedule that is not in the list is found', (t) => {
  const found = documented();
  const planted = (path: string, text: string): SourceFile[] => [
    ...FILES.filter((file) => file.path !== path),
    { path, text, lines: text.split('\n') },
  ];
  const mail = FILES.find(({ path }) => path === 'supervision/mail.ts')!.text;
  const sweep = `${mail}\nsystem.spawnWorker({ path: 'schedules/statements', receive: () => undefined });\n`;
  t.deepEqual(faultsOf(planted('supervision/mail.ts', sweep), found), [
    'supervision/mail.ts: schedules/statements is not in docs/jobs.md',
    'supervision/mail.ts: sets 4 timers, docs/jobs.md says 3',
  ]);
  t.deepEqual(faultsOf(planted('gateway/links.ts', 'setInterval(expireLinks, 60_000);'), found), [
    'gateway/links.ts: sets 1 timers, docs/jobs.md says 0',
  ]);
  t.deepEqual(faultsOf(planted('supervision/mail.ts', '// nothing\n'), found), [
    'supervision/mail.ts: sets 0 timers, docs/jobs.md says 3',
    'docs/jobs.md: nothing is scheduled in supervision/mail.ts',
  ]);
});
