/** Published versions of the token registry over PostgreSQL. Treasury K10. */
import type { RegistrySignature } from '../../chains/registry-signature.ts';
import type { KeptProposal, Published, PublishedRegistry, RegistryStore } from '../../model/ports/registry-store.ts';
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
    async publish({ version, content, hash, tokens, signatures, by, of }, audit) {
      const reviewId = of !== null && 'reviewId' in of ? of.reviewId : null,
        proposalId = of !== null && 'proposalId' in of ? of.proposalId : null;
      const [row] = await sql<{ outcome: Published }[]>`
        with done as materialized (
          select publish_registry(${version}::int, ${content}, ${hash}, ${JSON.stringify(tokens)}::text::jsonb,
                                  ${JSON.stringify(signatures)}::text::jsonb, ${by}, ${reviewId}, ${proposalId}) as outcome
        )
        select d.outcome, case when d.outcome = 'published' then ${recordingOf(sql, ...audit)} end as recorded from done d`;
      return row!.outcome;
    },
    ...proposed(sql),
  };
}

type ProposalRow = Omit<KeptProposal, 'change' | 'createdAtMs' | 'updatedAtMs'> & {
  changes: KeptProposal['change'];
  createdAt: number;
  updatedAt: number;
};
const proposalOf = ({ changes, createdAt, updatedAt, ...row }: ProposalRow): KeptProposal => ({
  ...row,
  change: changes,
  createdAtMs: createdAt,
  updatedAtMs: updatedAt,
});

function proposed(sql: Sql): Pick<RegistryStore, 'propose' | 'proposal' | 'proposals' | 'withdraw'> {
  const rows = (which: Fragment) => sql<ProposalRow[]>`
    select p.id, p.state, p.changes, p.against, p.version, p.proposed_by, p.published_by, p.withdrawn_by, p.reason,
           p.created_at, p.updated_at
      from registry_proposal p ${which}`;
  return {
    async propose({ id, change, against, proposedBy }, audit) {
      await sql`
        with changed as materialized (
          insert into registry_proposal (id, changes, against, proposed_by)
            values (${id}, ${JSON.stringify(change)}::text::jsonb, ${against}::int, ${proposedBy}) returning id
        )
        select ${recordingOf(sql, ...audit)} from changed`;
    },
    async proposal(id) {
      const [row] = await rows(sql`where p.id = ${id}`);
      // What is published must not rest on the driver pairing answers with questions.
      return row === undefined || row.id !== id ? null : proposalOf(row);
    },
    async proposals(after, limit) {
      const behind = after === null ? sql`` : sql`where p.id < ${after}`;
      return (await rows(sql`${behind} order by p.id desc limit ${limit}::int`)).map(proposalOf);
    },
    async withdraw(id, { by, reason }, audit) {
      const { count } = await sql`
        with changed as materialized (
          update registry_proposal set state = 'withdrawn', withdrawn_by = ${by}, reason = ${reason},
                 updated_at = clock_timestamp()
           where id = ${id} and state = 'proposed' returning id
        )
        select ${recordingOf(sql, ...audit)} from changed`;
      return count === 1;
    },
  };
}
