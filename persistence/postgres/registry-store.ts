/** Published versions of the token registry over PostgreSQL. Treasury K10. */
import type { RegistrySignature } from '../../chains/registry-signature.ts';
import type { Published, PublishedRegistry, RegistryStore } from '../../model/ports/registry-store.ts';
import { recordingOf } from './audit-log-store.ts';
import type { Fragment, Sql } from './sql.ts';

interface Row {
  readonly version: number;
  readonly content: string;
  readonly signatures: RegistrySignature[];
}

/** Of the column. */
const VERSION_MAX = 2_147_483_647;

export function createRegistryStore(sql: Sql): RegistryStore {
  const one = async (which: Fragment): Promise<PublishedRegistry | null> => {
    const [row] = await sql<Row[]>`
      select v.version, v.content, (select jsonb_agg(jsonb_build_object('key', s.key, 'signature', s.signature) order by s.key)
               from registry_signature s where s.version = v.version) as signatures
        from registry_version v where ${which} order by v.version desc limit 1`;
    return row === undefined ? null : { version: row.version, content: row.content, signatures: row.signatures };
  };
  return {
    newestAbove: (version, below = VERSION_MAX) => one(sql`v.version > ${version} and v.version < ${below}`),
    published: (version) => one(sql`v.version = ${version}`),
    async publish({ version, content, hash, tokens, signatures, by, reviewId }, audit) {
      const [row] = await sql<{ outcome: Published }[]>`
        with done as materialized (
          select publish_registry(${version}::int, ${content}, ${hash}, ${JSON.stringify(tokens)}::text::jsonb,
                                  ${JSON.stringify(signatures)}::text::jsonb, ${by}, ${reviewId}) as outcome
        )
        select d.outcome, case when d.outcome = 'published' then ${recordingOf(sql, ...audit)} end as recorded from done d`;
      return row!.outcome;
    },
  };
}
