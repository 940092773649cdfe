/** What the cloud remembers of edges: sessions, spent nonces, records of local keys and of instructions. */
import { failpoint } from '../../protocol/node/failpoint.ts';
import {
  REVOKED_AT_ONCE_MAX,
  type InstructionRecord,
  type KeySetRecord,
  type LocalKeyRecord,
} from '../../protocol/frames.ts';
import type { EdgeKeyRow, EdgeStore, InstructionNotKept, SessionRow } from '../../model/ports/edge-store.ts';
import { recordingOf } from './audit-log-store.ts';
import { deleteOlder } from './pages.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';

/** A node that starts reads the sessions of all accounts, some at a time: a statement has a limit of time. */
const OPEN_SESSIONS_PAGE = 1_000;
/** Sessions of an account that are shown: a replica has one that is open; what ended is kept for an hour. */
const SESSIONS_OPEN_MAX = 1_000;
const SESSIONS_ENDED_MAX = 200;
/** Records above 64 KiB that one account may have: each is 2 MiB at most. */
const LARGE_INSTRUCTIONS_MAX = 1_000;
/** Records of local keys that one account may have, revoked ones too. Choice: an edge has 1,000 valid keys at most. */
const LOCAL_KEYS_PER_ACCOUNT_MAX = 10_000;
/** Key sets of one account that contain none of each other: one a replica that has not heard of the others. */
const KEY_SETS_PER_ACCOUNT_MAX = 64;

const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

const edgeKeyOf = ({ id, label, prefix, createdAt, revokedAt, revokeAskedAt }: Columns): EdgeKeyRow =>
  ({ id, label, prefix, createdAtMs: createdAt, revokedAtMs: revokedAt, revokeAskedAtMs: revokeAskedAt }) as EdgeKeyRow;

function sessionOf(row: Columns): SessionRow {
  return {
    id: row.id,
    accountId: row.accountId,
    role: row.role,
    edgeVersion: row.edgeVersion,
    liveness: row.liveness,
    leaseEpoch: row.leaseEpoch,
    outboxMode: row.outboxMode,
    outboxDepth: row.outboxDepth,
    outboxPoisoned: row.outboxPoisoned,
    podHint: row.podHint,
    lastHeartbeatAtMs: row.lastHeartbeatAt,
    startedAtMs: row.startedAt,
    endedAtMs: row.endedAt,
    ...(row['treasury'] == null ? {} : { treasury: row['treasury'] }),
  } as SessionRow;
}

/** The edge stream's store over PostgreSQL. */
export function createEdgeStore(sql: Sql): EdgeStore {
  return { ...sessions(sql), ...nonces(sql), ...localKeys(sql), ...keySets(sql), ...instructions(sql) };
}

function sessions(sql: Sql): Pick<EdgeStore, 'saveSessions' | 'sessions' | 'openSessions' | 'reapSessions'> {
  return {
    async saveSessions(rows) {
      if (rows.length === 0) return;
      const values = rows.map((row) => ({
        id: row.id,
        account_id: row.accountId,
        role: row.role,
        edge_version: row.edgeVersion,
        liveness: row.liveness,
        lease_epoch: row.leaseEpoch,
        outbox_mode: row.outboxMode,
        outbox_depth: row.outboxDepth,
        outbox_poisoned: row.outboxPoisoned,
        pod_hint: row.podHint,
        last_heartbeat_at: instant(row.lastHeartbeatAtMs),
        started_at: instant(row.startedAtMs),
        ended_at: instant(row.endedAtMs),
        identity: row.identity ?? null,
        treasury: row.treasury ?? null,
      }));
      failpoint('save_sessions.before');
      await sql`
        insert into edge_session
          select id, account_id, role, edge_version, liveness, lease_epoch, outbox_mode, outbox_depth, outbox_poisoned, pod_hint,
                 last_heartbeat_at, started_at, ended_at, nullif(treasury, 'null')
            from jsonb_to_recordset(${JSON.stringify(values)}::text::jsonb) r(id text, account_id text, role text,
            edge_version text, liveness text, lease_epoch bigint, outbox_mode text, outbox_depth bigint, outbox_poisoned boolean,
            pod_hint text, last_heartbeat_at timestamptz, started_at timestamptz, ended_at timestamptz, identity text,
            treasury jsonb)
           where is_pinned(account_id, identity) order by account_id, id
        on conflict (account_id, id) do update set
          role = excluded.role, edge_version = excluded.edge_version, liveness = excluded.liveness,
          lease_epoch = excluded.lease_epoch, outbox_mode = excluded.outbox_mode, outbox_depth = excluded.outbox_depth,
          outbox_poisoned = excluded.outbox_poisoned, pod_hint = excluded.pod_hint,
          last_heartbeat_at = excluded.last_heartbeat_at, ended_at = excluded.ended_at,
          treasury = coalesce(excluded.treasury, edge_session.treasury)`;
      failpoint('save_sessions.after');
    },
    async sessions(accountId) {
      const rows = await sql<Columns[]>`
        select * from (
          (select * from edge_session where account_id = ${accountId} and ended_at is null
            order by started_at desc, id desc limit ${SESSIONS_OPEN_MAX})
          union all
          (select * from edge_session where account_id = ${accountId} and ended_at is not null
            order by started_at desc, id desc limit ${SESSIONS_ENDED_MAX})) s
         order by started_at desc, id desc`;
      return rows.map(sessionOf);
    },
    async openSessions() {
      const found: SessionRow[] = [];
      let last = { accountId: '', began: '-infinity', id: '' };
      for (let isLast = false; !isLast;) {
        const rows: (Columns & typeof last)[] = await sql<(Columns & typeof last)[]>`
          select *, started_at::text as began from edge_session
           where ended_at is null and (account_id, started_at, id) > (${last.accountId}, ${last.began}::text::timestamptz, ${last.id})
           order by account_id, started_at, id limit ${OPEN_SESSIONS_PAGE}`;
        found.push(...rows.map(sessionOf));
        last = rows.at(-1) ?? last;
        isLast = rows.length < OPEN_SESSIONS_PAGE;
      }
      return found;
    },
    async reapSessions(endedBeforeMs) {
      return deleteOlder(sql, sql`edge_session`, sql`ended_at`, endedBeforeMs);
    },
  };
}

function nonces(sql: Sql): Pick<EdgeStore, 'claimNonce' | 'purgeNonces'> {
  return {
    async claimNonce(keyId, nonce, expiresAtMs) {
      failpoint('claim_nonce.before');
      const { count } = await sql`
        insert into edge_nonce (key_id, nonce, expires_at) values (${keyId}, ${nonce}, ${expiresAtMs}::timestamptz) on conflict do nothing`;
      failpoint('claim_nonce.after');
      return count === 1;
    },
    async purgeNonces(nowMs) {
      return deleteOlder(sql, sql`edge_nonce`, sql`expires_at`, nowMs);
    },
  };
}

function localKeys(
  sql: Sql,
): Pick<EdgeStore, 'saveLocalKeys' | 'localKeys' | 'edgeKeys' | 'askToRevoke' | 'keysToRevoke'> {
  return {
    async saveLocalKeys(accountId, records, identity = null) {
      if (records.length === 0) return [];
      const values = [...new Map(records.map((record) => [record.id, record])).values()].map((record) => ({
        id: record.id,
        environment: record.environment,
        hash: record.hash,
        label: record.label,
        prefix: record.prefix,
        created_at: instant(record.createdAtMs),
        revoked_at: instant(record.revokedAtMs),
        signature: record.signature,
      }));
      failpoint('save_local_keys.before');
      const left = await sql<{ id: string | null }[]>`
        with sender as materialized (select is_pinned(${accountId}, ${identity}) as pinned), asked as materialized (
          select r.*, exists (select from local_key k where k.account_id = ${accountId} and k.id = r.id) as is_known
            from jsonb_to_recordset(${JSON.stringify(values)}::text::jsonb) r(id text, environment text, hash text, label text,
              prefix text, created_at timestamptz, revoked_at timestamptz, signature text)
           where (select pinned from sender)
        ), judged as materialized (
          select a.*, not a.is_known and row_number() over (partition by a.is_known order by a.created_at, a.id)
                 + (select count(*) from local_key k where k.account_id = ${accountId}) > ${LOCAL_KEYS_PER_ACCOUNT_MAX} as is_over
            from asked a
        ), taken as (
          insert into local_key as k (account_id, id, environment, hash, label, prefix, created_at, revoked_at, signature)
            select ${accountId}, id, environment, hash, label, prefix, created_at, revoked_at, signature
              from judged where not is_over order by id
          on conflict (account_id, id) do update set revoked_at = excluded.revoked_at, signature = excluded.signature
            where k.revoked_at is null and excluded.revoked_at is not null and k.hash = excluded.hash
        )
        select id from (select id, created_at from judged where is_over
                        union all select null, null from sender where not pinned) l order by created_at, id`;
      failpoint('save_local_keys.after');
      return left.some(({ id }) => id === null) ? 'not_pinned' : left.map(({ id }) => id!);
    },
    async localKeys(accountId) {
      const rows = await sql<
        Columns[]
      >`select * from local_key where account_id = ${accountId} order by created_at, id`;
      return rows.map(
        ({ id, environment, hash, label, prefix, createdAt, revokedAt, signature }) =>
          ({
            id,
            environment,
            hash,
            label,
            prefix,
            createdAtMs: createdAt,
            revokedAtMs: revokedAt,
            signature,
          }) as LocalKeyRecord,
      );
    },
    async edgeKeys(accountId, below, limit) {
      const rows = await sql<Columns[]>`
        select * from local_key where account_id = ${accountId} and (${below}::text is null or id < ${below})
         order by id desc limit ${limit}`;
      return rows.map(edgeKeyOf);
    },
    async askToRevoke(accountId, id, atMs, audit) {
      failpoint('ask_to_revoke.before');
      const rows = await sql<Columns[]>`
        with asked as materialized (
          update local_key set revoke_asked_at = ${atMs}::timestamptz
           where account_id = ${accountId} and id = ${id} and revoked_at is null and revoke_asked_at is null
          returning *
        ), noted as materialized (select ${recordingOf(sql, audit)} from asked)
        select a.* from asked a, (select count(*) from noted) n
        union all
        select k.* from local_key k where k.account_id = ${accountId} and k.id = ${id}
           and not exists (select from asked)`;
      failpoint('ask_to_revoke.after');
      return rows[0] === undefined ? null : edgeKeyOf(rows[0]);
    },
    async keysToRevoke(accountId) {
      const rows = await sql<{ id: string }[]>`
        select id from local_key
         where account_id = ${accountId} and revoke_asked_at is not null and revoked_at is null
         order by id limit ${REVOKED_AT_ONCE_MAX}`;
      return rows.map(({ id }) => id);
    },
  };
}

function keySets(sql: Sql): Pick<EdgeStore, 'saveKeySet' | 'keySets'> {
  return {
    async saveKeySet(accountId, set, identity = null) {
      const { replica, version } = set,
        covers = JSON.stringify(set.covers);
      failpoint('save_key_set.before');
      const [row] = await sql<{ kept: boolean; isOver: boolean; pinned: boolean }[]>`
        with sender as materialized (select is_pinned(${accountId}, ${identity}) as pinned), contained as (
          delete from local_key_set k using jsonb_to_recordset(${covers}::text::jsonb) c(replica text, version bigint)
           where k.account_id = ${accountId} and k.replica = c.replica and k.version <= c.version and k.replica <> ${replica}
             and (select pinned from sender)
        ), judged as materialized (
          select exists (select from local_key_set k, jsonb_to_recordset(k.covers) c(replica text, version bigint)
                          where k.account_id = ${accountId} and k.replica <> ${replica} and c.replica = ${replica} and c.version >= ${version}) as is_contained,
                 (select count(*) filter (where k.replica <> ${replica}) from local_key_set k where k.account_id = ${accountId}) >= ${KEY_SETS_PER_ACCOUNT_MAX} as is_over
        ), taken as (
          insert into local_key_set as k (account_id, replica, version, covers, record)
            select ${accountId}, ${replica}, ${version}, ${covers}::text::jsonb, ${JSON.stringify(set)} from judged where not is_contained and not is_over and (select pinned from sender)
          on conflict (account_id, replica) do update set version = excluded.version, covers = excluded.covers, record = excluded.record
            where k.version < excluded.version
          returning 1
        )
        select exists (select from taken) as kept, is_over and not is_contained as "isOver", (select pinned from sender) from judged`;
      failpoint('save_key_set.after');
      if (!row!.pinned) return 'not_pinned';
      return row!.kept ? 'kept' : row!.isOver ? 'no_room' : 'known';
    },
    async keySets(accountId) {
      const rows = await sql<
        { record: string }[]
      >`select record from local_key_set where account_id = ${accountId} order by version, replica`;
      return rows.map(({ record }) => JSON.parse(record) as KeySetRecord);
    },
  };
}

function instructions(sql: Sql): Pick<EdgeStore, 'saveInstructions' | 'instruction' | 'reapInstructions'> {
  return {
    async saveInstructions(accountId, records, identity = null) {
      if (records.length === 0) return [];
      const newest = new Map(
        records.toSorted((a, b) => a.askedAtMs - b.askedAtMs).map((record) => [record.transactionId, record]),
      );
      const values = [...newest.values()].map((record) => ({
        id: record.transactionId,
        asked_at: instant(record.askedAtMs),
        record: JSON.stringify(record),
      }));
      failpoint('save_instructions.before');
      // The function takes its account from the row of the sender: it is not called where there is none.
      const refused = await sql<{ id: string | null; reason: InstructionNotKept['reason'] }[]>`
        with sender as materialized (select ${accountId}::text as account_id, is_pinned(${accountId}, ${identity}) as pinned)
        select r.id, r.reason from (select s.account_id from sender s where s.pinned) s,
               lateral save_instructions(s.account_id, ${JSON.stringify(values)}::text::jsonb, ${LARGE_INSTRUCTIONS_MAX}) r
        union all select null, null from sender where not pinned
        order by id`;
      failpoint('save_instructions.after');
      if (refused.some(({ id }) => id === null)) return 'not_pinned';
      return refused.map(({ id, reason }) => ({ transactionId: id!, reason }));
    },
    async instruction(accountId, transactionId) {
      const [row] = await sql<Columns[]>`
        select record from edge_instruction where account_id = ${accountId} and transaction_id = ${transactionId}`;
      return row === undefined ? null : (JSON.parse(row['record'] as string) as InstructionRecord);
    },
    async reapInstructions(askedBeforeMs) {
      return deleteOlder(sql, sql`edge_instruction`, sql`asked_at`, askedBeforeMs);
    },
  };
}
