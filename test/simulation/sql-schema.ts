/**
 * A database of the test run made ready for a story: its clock is the story's, its account is the story's, what is
 * planted is planted, and a neighbour waits beside the account: an account with an endpoint that never got anything.
 */
import { initialAccount } from '../../model/account/state.ts';
import { createStores } from '../../persistence/postgres/stores.ts';
import { accountIdOf, type AccountId } from '../../protocol/ids.ts';
import { newId, SHARD_COUNT, shardOf } from '../../protocol/node/ids.ts';
import { ORGANIZATION_ID, PLAN } from '../support/account.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { NOW_MS, webhookRow } from '../support/store-rows.ts';
import type { Seed } from './database.ts';

/** Deliveries that wait for the neighbour's endpoint: more than any statement may change at once. */
export const NEIGHBOUR_WAITING = 3_000;
/** Rows of deliveries that one statement may change: a page of a backlog is 1,000. */
const ROWS_AT_ONCE_MAX = 1_000;
export const NEIGHBOUR_ENDPOINT = '00000000-0000-7000-8000-000000000001';

/**
 * Every function and default finds this clock before the server's: it is the story's where a session says what that is.
 */
const CLOCK = `
  create function flock.clock_timestamp() returns timestamptz language sql volatile as
    $$ select coalesce(nullif(current_setting('story.now', true), '')::timestamptz, pg_catalog.clock_timestamp()) $$;
  grant execute on function flock.clock_timestamp() to public;
  do $$
  declare one record;
  begin
    for one in select p.oid::regprocedure as name from pg_proc p where p.pronamespace = 'flock'::regnamespace
                  and array_to_string(p.proconfig, ' ') like '%search_path=flock, pg_temp%' loop
      execute format('alter function %s set search_path = flock, pg_catalog, pg_temp', one.name);
    end loop;
    for one in select c.oid::regclass as name, a.attname from pg_attrdef d join pg_class c on c.oid = d.adrelid
                 join pg_attribute a on a.attrelid = c.oid and a.attnum = d.adnum
                where c.relnamespace = 'flock'::regnamespace and pg_get_expr(d.adbin, d.adrelid) = 'clock_timestamp()' loop
      execute format('alter table %s alter column %I set default flock.clock_timestamp()', one.name, one.attname);
    end loop;
  end $$;`;

/** Notes each statement that changes more deliveries than a page. */
const WATCH_STATEMENTS = `
  create table flock.too_large (rows bigint not null);
  create function flock.note_large() returns trigger language plpgsql security definer set search_path = flock, pg_temp as $$
  begin
    insert into too_large select count(*) from changed having count(*) > ${ROWS_AT_ONCE_MAX};
    return null;
  end $$;
  create trigger note_large after update on flock.delivery referencing new table as changed
    for each statement execute function flock.note_large();`;

const neighbourBacklog = (accountId: AccountId) => `
  insert into flock.publication (account_id, event_id, event, body, order_key, to_all, created_at, completed_at)
    select '${accountId}', 'evt_waiting_' || n, 'deposit_detected', '{}', '', false, to_timestamp(${NOW_MS / 1_000}), to_timestamp(${NOW_MS / 1_000})
      from generate_series(1, ${NEIGHBOUR_WAITING}) n;
  insert into flock.delivery (id, account_id, event_id, webhook_id, event, seq, order_key, status, next_attempt_at, created_at)
    select 'dlv_' || translate(lpad(p.seq::text, 26, '0'), '0123456789', 'abcdefghij'), p.account_id, p.event_id, '${NEIGHBOUR_ENDPOINT}', p.event, p.seq, '', 'pending', p.created_at, p.created_at
      from flock.publication p where p.account_id = '${accountId}';`;

/** Makes the database ready. `planted` replaces functions with faulty ones. Answers the neighbour's account. */
export async function prepareSql({ sql, admin }: TestDatabase, seed: Seed, planted = ''): Promise<AccountId> {
  await admin.unsafe(`set role flock_owner; ${planted}; reset role; ${CLOCK} ${WATCH_STATEMENTS}`);
  const initial = (environment: 'live' | 'sandbox') =>
    initialAccount({
      accountId: accountIdOf(ORGANIZATION_ID, environment),
      organizationId: ORGANIZATION_ID,
      environment,
      plan: PLAN,
    });
  let epochs = new Map<number, number>();
  const { identity, ownership, accounts } = createStores({
    sql,
    nowMs: () => NOW_MS,
    epochOf: (shard) => epochs.get(shard),
    initialAccount: ({ environment }) => initial(environment),
  });
  const userId = newId('usr', NOW_MS);
  await identity.insertUser({
    id: userId,
    email: 'owner@example.com',
    passwordHash: 'x',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: null,
  });
  await identity.createOrganization({ id: ORGANIZATION_ID, name: 'Story', createdAtMs: NOW_MS }, userId, PLAN);
  epochs = await ownership.claimShards(
    'before',
    Array.from({ length: SHARD_COUNT }, (_, shard) => shard),
  );
  const neighbour = initial('sandbox'),
    { accountId } = seed.state;
  const webhook = webhookRow(neighbour.accountId, { id: NEIGHBOUR_ENDPOINT });
  for (const entry of [
    {
      entityId: accountId,
      ownerEpoch: 0,
      expectedVersion: 0,
      events: [...seed.events],
      state: seed.state,
      rows: [...seed.rows],
    },
    {
      entityId: neighbour.accountId,
      ownerEpoch: 0,
      expectedVersion: 0,
      events: [],
      state: neighbour,
      rows: [{ table: 'webhook' as const, row: webhook }],
    },
  ]) {
    const { ownerEpoch } = (await accounts.load(entry.entityId))!;
    const outcome = await accounts.append({ ...entry, ownerEpoch });
    if (outcome.kind !== 'appended') throw new Error(`the seed of ${entry.entityId}: ${JSON.stringify(outcome)}`);
  }
  await admin.unsafe(neighbourBacklog(neighbour.accountId));
  return neighbour.accountId;
}

/** The shards of the accounts of a story. */
export const shardsOf = (...ids: readonly AccountId[]): number[] => [...new Set(ids.map(shardOf))];
