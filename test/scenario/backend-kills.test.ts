/**
 * The database's side of the kill points: at every named place that a story passes in the cloud, the cloud stands still
 * and its database connections die, each by its backend's end or all of them by a crash of the server. Nothing is lost,
 * nothing is doubled, and the story goes on by itself.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { openCompany, patiently, type Company } from '../support/company.ts';
import { evidenceOf } from '../support/evidence.ts';
import { Stories } from '../support/story.ts';

const LOOK_MS = 3;
/** A worker that faults again and again pauses ever longer, as it should; a new process begins with short pauses. */
const HARMS_PER_PROCESS = 12;

/**
 * Does harm at each place where the cloud stands still, until it is told to end; restarts a cloud that did not survive.
 */
class Executioner {
  readonly places: string[] = [];
  harmed = 0;
  readonly #company: Company;
  readonly #directory: string;
  readonly #harm: (place: string) => Promise<number>;
  readonly #work: Promise<unknown>;
  #ended = false;

  constructor(company: Company, directory: string, harm: (place: string) => Promise<number>) {
    this.#company = company;
    this.#directory = directory;
    this.#harm = harm;
    this.#work = this.#haunt();
    void this.#keepAlive();
  }

  /** No more harm: a cloud that stands still goes on. What runs then must bring everything to its end. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#work;
    for (const place of this.#held()) writeFileSync(join(this.#directory, `${place}.done`), '');
  }

  #held(): string[] {
    return readdirSync(this.#directory).filter(
      (name) => !name.endsWith('.done') && !existsSync(join(this.#directory, `${name}.done`)),
    );
  }

  async #haunt(): Promise<void> {
    while (!this.#ended) {
      for (const place of this.#held()) {
        this.harmed += await this.#harm(place);
        this.places.push(place);
        writeFileSync(join(this.#directory, `${place}.done`), '');
        if (this.places.length % HARMS_PER_PROCESS === 0) this.#company.deployment.cloud.kill('SIGKILL');
      }
      await delay(LOOK_MS);
    }
  }

  /** A node that has just started gives up when its first statements fail: whoever runs it starts it again. */
  async #keepAlive(): Promise<void> {
    for (;;) {
      await this.#company.deployment.cloud.exited;
      if (this.#ended) return;
      await this.#company.deployment
        .restartCloud({ FLOCK_FAILPOINTS: `hold:${this.#directory}` })
        .catch(() => undefined);
    }
  }
}

/** Backends of the cloud in this database. */
async function backends({ sql }: Company): Promise<number[]> {
  const rows = await patiently(
    'the server',
    async () => sql<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'cloud-1' and datname = current_database() and backend_type = 'client backend'`,
  );
  return rows.map(({ pid }) => pid);
}

/** Terminates every backend that the cloud has, and waits until they are gone. Answers how many. */
async function terminateBackends(company: Company): Promise<number> {
  const pids = await backends(company);
  await company.sql`select pg_terminate_backend(pid) from unnest(${pids.map(String)}::text[]::int[]) pid`;
  while ((await backends(company)).some((pid) => pids.includes(pid))) await delay(LOOK_MS);
  return pids.length;
}

async function told(
  t: ExecutionContext,
  { ownServer, harm }: { ownServer: boolean; harm: (company: Company, place: string) => Promise<number> },
): Promise<Executioner> {
  const directory = mkdtempSync(join(tmpdir(), 'flock-held-'));
  const company = await openCompany({ ownServer, cloudEnv: { ETH_POLL_MS: '200' } });
  try {
    const stories = new Stories(company);
    await company.deployment.cloud.stop();
    const executioner = new Executioner(company, directory, (place) => harm(company, place));
    try {
      await stories.tell().catch(async (error: unknown) => {
        t.log(await evidenceOf(company));
        throw new Error(`after ${executioner.places.at(-1)}: ${String(error)}`);
      });
    } finally {
      await executioner.end();
    }
    await stories.check(t);
    t.log(`${executioner.places.length} places, ${executioner.harmed} backends, ${stories.count} stories`);
    return executioner;
  } finally {
    await company.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

test('issue 2.3 reliability 4.1 row 5: backends that end at every named place of the cloud lose nothing and double nothing', async (t) => {
  t.timeout(600_000);
  const { places, harmed } = await told(t, { ownServer: false, harm: (company) => terminateBackends(company) });
  for (const place of ['claim_shards', 'load', 'append', 'record_block', 'mature', 'claim_due', 'record_attempts']) {
    for (const side of ['before', 'after']) t.true(places.includes(`${place}.${side}`), `${place}.${side}`);
  }
  t.true(harmed > places.length / 2, `${harmed} backends at ${places.length} places`);
});

/** Where a crash would cost most: what holds money, and what tells of it. */
const CRASHES = /^(append|record_block|record_attempts|first_submit|submit)\./;

test('issue 2.3 reliability 4.1 row 4: a backend that is killed takes the whole server down; after its recovery nothing is lost', async (t) => {
  t.timeout(600_000);
  const { harmed } = await told(t, {
    ownServer: true,
    async harm(company, place) {
      if (!CRASHES.test(place)) return 0;
      const [pid] = await backends(company);
      if (pid === undefined) return 0;
      try {
        process.kill(pid, 'SIGKILL'); // the server ends every other backend, and recovers from its log
        return 1;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
        return 0; // its connection ended between the look and the kill
      }
    },
  });
  t.true(harmed >= 5, `${harmed} crashes`);
});
