/**
 * P21: openings of payments by payers, 64 in flight, against bare single-row inserts of the same run, in turns.
 * payments B4.
 */
import { openDatabase } from '../persistence/postgres/sql.ts';
import { openCheckout } from './checkout.ts';
import { backendsCpuMs, calls, median, percentile, rate, serverPidOf, type Figure } from './figure.ts';

const IN_FLIGHT = 64;
const RUN = 2_000;
const WARM = 500;
const ROUNDS = 3;
const OPEN_OF_LINK = 200;
const INSERTS_MS = 3_000;

const checkout = await openCheckout(IN_FLIGHT);
const sql = openDatabase({
  url: checkout.deployment.databaseUrl,
  connections: IN_FLIGHT,
  name: 'flock-bench',
  role: null,
  settings: { search_path: 'public' },
});
try {
  await sql`create table bench_row (id bigint primary key, link text not null, address text not null unique,
    amount numeric not null, email text, at timestamptz not null, status text not null)`;
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const parts = [checkout.deployment.cloud.pid, serverPidOf(backend!.pid)] as const;
  const cpu = (): number[] => parts.map(backendsCpuMs);
  let row = 0;
  const insert = (): Promise<unknown> => {
    const n = (row += 1);
    return sql`insert into bench_row
      values (${String(n)}::text::bigint, 'link', ${`0x${n.toString(16).padStart(40, '0')}`}, 25, null, now(), 'open')`;
  };
  // As many on a link as it may have open in live.
  const run = async (count: number) => {
    const slugs: string[] = [];
    for (let n = 0; n < count; n += OPEN_OF_LINK) slugs.push(await checkout.link());
    return calls((n) => checkout.open(slugs[n % slugs.length]!), IN_FLIGHT, count);
  };
  await run(WARM);
  await sql`analyze`; // which the database does by itself within the first minute
  const [ours, limit, latencies, costs]: number[][] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    limit!.push((await rate(insert, IN_FLIGHT, INSERTS_MS)).perSecond);
    const before = cpu(),
      { perSecond, latenciesMs } = await run(RUN);
    costs!.push(...cpu().map((ms, at) => ((ms - before[at]!) * 1_000) / RUN));
    ours!.push(perSecond);
    latencies!.push(...latenciesMs);
  }
  const cost = (at: number): number => Math.round(median(costs!.filter((_, n) => n % parts.length === at)));
  console.log(
    JSON.stringify({
      id: 'P21',
      what: `payments opened by payers, ${IN_FLIGHT} in flight`,
      ours: median(ours!),
      limit: median(limit!),
      unit: '/s',
      better: 'higher',
      goal: 0.4,
      note: `an address of its own for each; CPU of one: node ${cost(0)} µs, database ${cost(1)} µs; p50 ${Math.round(median(latencies!))} ms, p99 ${Math.round(percentile(latencies!, 0.99))} ms; limit: bare single-row INSERT commits at ${IN_FLIGHT} connections`,
    } satisfies Figure),
  );
} finally {
  await sql.end({ timeout: 5 });
  await checkout.close();
}
