/** Projects and files on their way in, over PostgreSQL: each write is one statement. Migration M-U1–M-U4. */
import type { Project, Upload, UploadStore } from '../../model/ports/upload-store.ts';
import type { Columns } from './row-shapes.ts';
import { writtenWithin, type Sql } from './sql.ts';

/** An account has at most so many. */
const PROJECTS_MAX = 200;
/** Contents that one round erases. */
const ERASED_AT_ONCE = 100;

export function createUploadStore(sql: Sql): UploadStore {
  return {
    async createProject(accountId, { id, name, createdAtMs }, most) {
      const making = sql`
        insert into migration_project (account_id, id, name, created_at)
          select ${accountId}, ${id}, ${name}, ${createdAtMs}::timestamptz
           where (select count(*) from migration_project p where p.account_id = ${accountId}) < ${most}::int`;
      return (await writtenWithin('migration_project_limit', making)) > 0;
    },
    async projects(accountId) {
      const rows = await sql<Columns[]>`
        select * from migration_project where account_id = ${accountId} order by account_id desc, id desc limit ${PROJECTS_MAX}`;
      return rows.map(projectOf);
    },
    async project(accountId, id) {
      const [row] = await sql<Columns[]>`
        select * from migration_project where account_id = ${accountId} and id = ${id}`;
      return row === undefined ? null : projectOf(row);
    },
    async openUpload(upload, most) {
      const opening = sql`
        insert into upload (id, account_id, filename, declared_bytes, declared_sha256, max_bytes, url_key, deadline,
            created_at)
          select ${upload.id}, ${upload.accountId}, ${upload.filename}, ${upload.declaredBytes}::bigint,
                 ${upload.declaredSha256}, ${upload.maxBytes}::bigint, ${upload.urlKey}::bytea,
                 ${upload.deadlineMs}::timestamptz, ${upload.createdAtMs}::timestamptz
           where (select count(*) from (
             select from upload u where u.account_id = ${upload.accountId} and u.state = 'open'
                and u.deadline > ${upload.createdAtMs}::timestamptz limit ${most}::int) o) < ${most}::int`;
      return (await writtenWithin('upload_limit', opening)) > 0;
    },
    async upload(id) {
      const [row] = await sql<Columns[]>`select * from upload where id = ${id}`;
      return row === undefined ? null : uploadOf(row);
    },
    async beginContent(id) {
      const [row] = await sql<{ begun: number }[]>`
        update upload set begun = begun + 1 where id = ${id} and state = 'open' returning begun`;
      return row?.begun ?? null;
    },
    async storeChunk(id, attempt, n, bytes) {
      const { count } = await sql`
        insert into upload_chunk (upload_id, try, n, bytes)
          select u.id, ${attempt}::int, ${n}::int, ${bytes}::bytea from upload u
           where u.id = ${id} and u.begun = ${attempt}::int and u.state = 'open'`;
      return count > 0;
    },
    async endContent(id, { stored, bytes, sha256, format }) {
      const [row] = await sql<{ ended: number }[]>`
        with ended as (
          update upload set stored = ${stored}::int, bytes = ${bytes}::bigint, sha256 = ${sha256}, format = ${format}
           where id = ${id} and begun = ${stored}::int and state = 'open' returning id, stored
        ), gone as (
          delete from upload_chunk c using ended e where c.upload_id = e.id and c.try <> e.stored
        )
        select count(*) as ended from ended`;
      return row!.ended > 0;
    },
    async dropContent(id, attempt) {
      await sql`
        delete from upload_chunk c where c.upload_id = ${id} and c.try = ${attempt}::int
           and not exists (select from upload u where u.id = c.upload_id and u.stored = c.try)`;
    },
    async rejectUpload(id) {
      await sql`
        with rejected as (
          update upload set state = 'rejected', begun = begun + 1, stored = null, bytes = null, sha256 = null,
              format = null
           where id = ${id} and state = 'open' returning id
        )
        delete from upload_chunk c using rejected r where c.upload_id = r.id`;
    },
    async completeUpload(id) {
      const { count } = await sql`
        update upload set state = case state when 'open' then 'complete' else state end
         where id = ${id} and state in ('open', 'complete', 'used') and stored is not null`;
      return count > 0;
    },
    async chunks(id, attempt, after, limit) {
      return sql<{ n: number; bytes: Buffer }[]>`
        select n, bytes from upload_chunk
         where upload_id = ${id} and try = ${attempt}::int and n > ${after}::int order by n limit ${limit}::int`;
    },
    async eraseUploads(beforeMs) {
      const [row] = await sql<{ erased: number }[]>`
        with old as materialized (
          select id from upload where state <> 'erased' and created_at < ${beforeMs}::timestamptz
             -- A batch may be validated again for three months.
             and (state <> 'used' or created_at < ${beforeMs}::timestamptz - interval '83 days')
           order by created_at limit ${ERASED_AT_ONCE}
        ), gone as (
          delete from upload_chunk c using old o where c.upload_id = o.id
        ), erased as (
          update upload u set state = 'erased' from old o where u.id = o.id returning u.id
        )
        select count(*) as erased from erased`;
      return row!.erased;
    },
  };
}

function projectOf(row: Columns): Project {
  return { id: row.id, name: row.name, state: row.state, createdAtMs: row.createdAt } as Project;
}

function uploadOf(row: Columns): Upload {
  const content =
    row.stored === null
      ? null
      : { stored: row.stored, bytes: Number(row.bytes), sha256: row.sha256, format: row.format };
  return {
    id: row.id,
    accountId: row.accountId,
    filename: row.filename,
    declaredBytes: row.declaredBytes,
    declaredSha256: row.declaredSha256,
    maxBytes: row.maxBytes,
    urlKey: row.urlKey,
    state: row.state,
    content,
    deadlineMs: row.deadline,
    createdAtMs: row.createdAt,
  } as Upload;
}
