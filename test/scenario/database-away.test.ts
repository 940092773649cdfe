/**
 * While the database is frozen, refuses, or is full, every route of the table is answered 503 with Retry-After within
 * two seconds, also what was under way when it began; afterwards everything goes on by itself.
 */
import { readdirSync, readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { openCompany, patiently, type Company } from '../support/company.ts';
import { watchLateness, type Lateness } from '../support/lateness.ts';

/** What the issue promises. */
const ANSWER_MS = 2_000;
const WITHOUT_DATABASE = new Set(['getLive', 'getDescription', 'getMetrics']);
const AT_ONCE = 8;

interface Answer {
  what: string;
  status: number;
  retryAfter: string | null;
  /** Without what the machine took, which answers without a database show. */
  tookMs: number;
}

interface Watched extends Company {
  readonly lateness: Lateness;
}

async function ask(
  { deployment: { cloudUrl, record }, lateness }: Watched,
  method: string,
  path: string,
): Promise<Answer> {
  const begunMs = performance.now();
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' };
  const response = await fetch(`${cloudUrl}${path}`, {
    method,
    ...body,
    headers: {
      'x-api-key': record.live.cloudApiKey,
      ...('body' in body ? { 'content-type': 'application/json' } : {}),
    },
  });
  await response.arrayBuffer();
  return {
    what: `${method} ${path}`,
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    tookMs: performance.now() - begunMs - lateness.since(begunMs),
  };
}

/** Requests that are under way all the time; answers those that were begun since it was told so. */
function traffic(company: Watched) {
  const answers: Answer[] = [];
  let going = true;
  const one = async (turn: number): Promise<void> => {
    while (going)
      answers.push(
        await ask(company, turn % 2 === 0 ? 'GET' : 'POST', turn % 2 === 0 ? '/v1/addresses' : '/v1/webhooks'),
      );
  };
  const work = Promise.all(Array.from({ length: AT_ONCE }, (_, turn) => one(turn)));
  return {
    answers,
    async end() {
      going = false;
      await work;
    },
  };
}

async function everyRoute(t: ExecutionContext, company: Watched): Promise<void> {
  const routes = ROUTE_LIST.filter(({ where }) => where !== 'edge');
  t.true(routes.length > 50);
  for (let from = 0; from < routes.length; from += AT_ONCE) {
    const group = routes.slice(from, from + AT_ONCE);
    await Promise.all(
      group.map(async ({ operationId, method, path }) => {
        const { what, status, retryAfter, tookMs } = await ask(company, method, path.replace(/\{[a-zA-Z]+\}/g, 'x'));
        if (WITHOUT_DATABASE.has(operationId)) return t.is(status, 200, what);
        t.deepEqual({ status, retryAfter }, { status: 503, retryAfter: '1' }, what);
        t.true(tookMs < ANSWER_MS, `${what}: ${tookMs} ms`);
      }),
    );
  }
}

const processesOf = (postmaster: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return pid === postmaster || stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(postmaster);
      } catch {
        return false; // it ended meanwhile
      }
    });

async function postmasterOf({ sql }: Company): Promise<number> {
  const [row] = await sql<{ path: string }[]>`select setting as path from pg_settings where name = 'data_directory'`;
  return Number(readFileSync(`${row!.path}/postmaster.pid`, 'utf8').split('\n')[0]);
}

const leave = (company: Company) => company.sql`
  select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and application_name like 'cloud-1%'`;

const FAULTS: readonly { name: string; begin(company: Company): Promise<() => Promise<unknown>> }[] = [
  {
    name: 'frozen',
    async begin(company) {
      const pids = processesOf(await postmasterOf(company));
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      return async () => {
        for (const pid of pids) process.kill(pid, 'SIGCONT');
      };
    },
  },
  {
    name: 'refused',
    async begin(company) {
      await company.sql.unsafe('alter role flock_app nologin');
      await leave(company);
      return () => company.sql.unsafe('alter role flock_app login');
    },
  },
  {
    name: 'read-only, as a standby is',
    async begin(company) {
      await company.sql.unsafe('alter role flock_app set default_transaction_read_only = on');
      await leave(company);
      return async () => {
        await company.sql.unsafe('alter role flock_app reset default_transaction_read_only');
        await leave(company);
      };
    },
  },
  {
    name: 'full',
    async begin({ sql }) {
      // What the server says where a file cannot grow.
      await sql.unsafe(`create function flock.full_disk() returns trigger language plpgsql as $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
        create trigger full_disk before insert or update on flock.cloud_node for each row execute function flock.full_disk();
        create trigger full_disk before insert or update on flock.account for each row execute function flock.full_disk();`);
      return () => sql.unsafe('drop function flock.full_disk() cascade');
    },
  },
];

test.serial(
  'found F61: frozen, refused, read-only or full: every route is 503 with Retry-After within two seconds, then all goes on',
  async (t) => {
    t.timeout(600_000);
    const opened = await openCompany({ ownServer: true });
    t.teardown(() => opened.close());
    const company = { ...opened, lateness: watchLateness(opened.deployment.cloudUrl) };
    t.teardown(() => company.lateness.end());
    for (const { name, begin } of FAULTS) {
      const before = traffic(company);
      await patiently(
        'traffic',
        async () => before.answers.length,
        (count) => count >= 2 * AT_ONCE,
      );
      const end = await begin(company);
      try {
        const seen = before.answers.length;
        await patiently(
          `${name}: not ready`,
          () => ask(company, 'GET', '/health/ready'),
          ({ status }) => status === 503,
        );
        await before.end();
        for (const { what, status, tookMs } of before.answers.slice(seen)) {
          t.true(tookMs < ANSWER_MS, `${name}, under way: ${what}: ${tookMs} ms`);
          t.true(status < 500 || status === 503, `${name}, under way: ${what}: ${status}`);
        }
        await everyRoute(t, company);
      } finally {
        await end();
      }
      await patiently(
        `${name}: ready again`,
        () => ask(company, 'GET', '/health/ready'),
        ({ status }) => status === 200,
      );
      t.is(
        (
          await patiently(
            'addresses',
            () => ask(company, 'GET', '/v1/addresses'),
            ({ status }) => status === 200,
          )
        ).status,
        200,
      );
      t.not(
        (
          (await company.client.call('createAddress', { body: { chain: 'eth', userRef: name } })) as {
            address?: string;
          }
        ).address,
        undefined,
      );
    }
  },
);
