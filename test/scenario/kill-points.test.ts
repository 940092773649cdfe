/**
 * SIGKILL at every named place: a recording run lists the places that a story passes in cloud and edge, then each is
 * hit in turn. After every restart nothing is lost, nothing is doubled, and the story goes on.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openCompany, type Company } from '../support/company.ts';
import { Stories } from '../support/story.ts';

/**
 * Keeps a part alive. Each start is armed with the next place, so that one death leads to the next without a clean
 * start between; an armed process that a story does not reach is killed where it stands.
 */
class Keeper {
  readonly unreached: string[] = [];
  readonly #company: Company;
  readonly #part: 'cloud' | 'edge';
  readonly #places: string[];
  armed = '';
  starts = 0;
  #watching = true;
  #starting: Promise<unknown> = Promise.resolve();

  constructor(company: Company, part: 'cloud' | 'edge', places: readonly string[]) {
    this.#company = company;
    this.#part = part;
    this.#places = [...places];
    void this.#watch();
  }

  get done(): boolean {
    return this.#places.length === 0 && this.armed === '';
  }

  /** After a story that the process survived: its place is noted, and it dies all the same. */
  async provoke(): Promise<void> {
    await this.#starting;
    const armed = this.armed;
    const { [this.#part]: child } = this.#company.deployment;
    child.kill('SIGKILL');
    await child.exited;
    if (armed !== '') this.unreached.push(armed);
    await this.#starting;
  }

  async end(): Promise<void> {
    this.#watching = false;
    await this.#starting.catch(() => undefined);
  }

  async #watch(): Promise<void> {
    while (this.#watching) {
      const child = this.#company.deployment[this.#part];
      await child.exited;
      if (!this.#watching) return;
      this.armed = this.#places.shift() ?? '';
      const env = { FLOCK_FAILPOINTS: this.armed === '' ? '' : `kill:${this.armed}:1` };
      this.#starting = (
        this.#part === 'cloud' ? this.#company.deployment.restartCloud(env) : this.#company.deployment.restartEdge(env)
      ).catch(() => undefined); // killed at a place that it passes while it starts
      await this.#starting;
      this.starts += 1;
    }
  }
}

test('reliability 4.1 row 1: a SIGKILL of cloud or edge at every named place loses nothing and doubles nothing', async (t) => {
  t.timeout(900_000);
  const folder = mkdtempSync(join(tmpdir(), 'flock-places-'));
  const company = await openCompany();
  const stories = new Stories(company);
  try {
    const places: { part: 'cloud' | 'edge'; name: string }[] = [];
    for (const part of ['cloud', 'edge'] as const) {
      await company.deployment[part].stop();
      const env = { FLOCK_FAILPOINTS: `record:${join(folder, part)}` };
      await (part === 'cloud' ? company.deployment.restartCloud(env) : company.deployment.restartEdge(env));
    }
    await stories.tell();
    for (const part of ['cloud', 'edge'] as const) {
      const file = join(folder, part);
      const names = existsSync(file) ? [...new Set(readFileSync(file, 'utf8').trim().split('\n'))] : [];
      t.true(names.length > 5, `the story passes places in the ${part}`);
      places.push(...names.map((name) => ({ part, name })));
    }
    const unreached: string[] = [];
    for (const part of ['cloud', 'edge'] as const) {
      const keeper = new Keeper(
        company,
        part,
        places.filter((place) => place.part === part).map(({ name }) => name),
      );
      try {
        await keeper.provoke(); // arms the first place
        while (!keeper.done) {
          const { starts } = keeper;
          await stories.tell().catch((error: unknown) => {
            throw new Error(`armed in the ${part}: ${keeper.armed}; ${String(error)}`);
          });
          if (keeper.starts === starts) await keeper.provoke();
        }
      } finally {
        await keeper.end();
      }
      unreached.push(...keeper.unreached);
    }
    t.true(unreached.length < places.length / 4, `places that only a first start passes: ${unreached.join(', ')}`);
    t.log(`${places.length} places, ${stories.count} stories`);
    await stories.check(t);
  } finally {
    await company.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
