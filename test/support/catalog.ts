/**
 * Everything that the catalogs say of the schema `flock`, one line a fact, sorted: two databases with the same lines
 * have the same schema. Left out is what two equal databases may differ in: object ids, the places of dropped columns,
 * which months have a partition of `attempt`.
 */
import type { Sql } from '../../persistence/postgres/sql.ts';

/** Of the schema, and no monthly partition nor anything of one. */
const OWN = `c.relnamespace = 'flock'::regnamespace and c.relname !~ '^attempt_[0-9]{6}'`;

const QUERIES = [
  // Kinds, owners, rights, row security, storage parameters, partitions.
  `select concat_ws(' ', 'relation', c.relname, c.relkind, c.relpersistence, c.relowner::regrole, 'acl', c.relacl,
          'options', c.reloptions, 'row security', c.relrowsecurity, c.relforcerowsecurity, 'replica', c.relreplident,
          'of', (select i.inhparent::regclass from pg_inherits i where i.inhrelid = c.oid),
          'bound', pg_get_expr(c.relpartbound, c.oid), 'by', case c.relkind when 'p' then pg_get_partkeydef(c.oid) end)
     from pg_class c where ${OWN} and c.relkind not in ('i', 'I')`,
  // Columns in their order; a dropped one leaves a gap in the numbers. The server's own options begin with pg_.
  `select concat_ws(' ', 'column', c.relname, row_number() over (partition by c.oid order by a.attnum), a.attname,
          format_type(a.atttypid, a.atttypmod), 'collate', l.collname, 'not null', a.attnotnull,
          'identity', a.attidentity, 'generated', a.attgenerated, 'default', pg_get_expr(d.adbin, d.adrelid),
          'storage', a.attstorage, a.attcompression, 'statistics', nullif(a.attstattarget, -1),
          (select string_agg(o, ',' order by o) from unnest(a.attoptions) o where o !~ '^pg_'), 'acl', a.attacl)
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     left join pg_collation l on l.oid = a.attcollation
    where ${OWN} and a.attnum > 0 and not a.attisdropped and c.relkind not in ('i', 'I')`,
  `select concat_ws(' ', 'constraint', coalesce(c.relname, t.typname), k.conname, k.contype, pg_get_constraintdef(k.oid),
          'valid', k.convalidated, 'deferrable', k.condeferrable, k.condeferred,
          'inherited', k.conislocal, k.coninhcount, k.connoinherit)
     from pg_constraint k left join pg_class c on c.oid = k.conrelid left join pg_type t on t.oid = k.contypid
    where k.connamespace = 'flock'::regnamespace and (c.oid is null or ${OWN})`,
  // In the order in which a table's indexes were made: without statistics the planner goes by it.
  `select concat_ws(' ', 'index', c.relname, row_number() over (partition by x.indrelid order by i.oid),
          pg_get_indexdef(i.oid), 'unique', x.indisunique, 'primary', x.indisprimary, 'valid', x.indisvalid,
          x.indisready, x.indisclustered, i.reloptions, i.relowner::regrole)
     from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid where ${OWN}`,
  `select concat_ws(' ', 'trigger', c.relname, pg_get_triggerdef(t.oid), 'enabled', t.tgenabled,
          'deferrable', t.tgdeferrable, t.tginitdeferred)
     from pg_trigger t join pg_class c on c.oid = t.tgrelid where ${OWN} and not t.tgisinternal`,
  `select concat_ws(' ', 'policy', c.relname, p.polname, p.polcmd, p.polpermissive,
          array(select r::regrole::text from unnest(p.polroles) r order by 1),
          'using', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid))
     from pg_policy p join pg_class c on c.oid = p.polrelid where ${OWN}`,
  `select concat_ws(' ', 'function', p.oid::regprocedure, p.proowner::regrole, 'acl', p.proacl, pg_get_functiondef(p.oid))
     from pg_proc p where p.pronamespace = 'flock'::regnamespace`,
  `select concat_ws(' ', 'view', c.relname, pg_get_viewdef(c.oid)) from pg_class c where ${OWN} and c.relkind = 'v'`,
  `select concat_ws(' ', 'sequence', c.relname, s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmin, s.seqmax,
          s.seqcache, s.seqcycle, 'of', d.refobjid::regclass, d.deptype)
     from pg_sequence s join pg_class c on c.oid = s.seqrelid
     left join pg_depend d on d.objid = c.oid and d.deptype in ('a', 'i') and d.classid = 'pg_class'::regclass
    where ${OWN}`,
  `select concat_ws(' ', 'type', t.typname, t.typtype, format_type(t.typbasetype, t.typtypmod), 'not null', t.typnotnull,
          'default', t.typdefault, t.typowner::regrole, 'acl', t.typacl)
     from pg_type t where t.typnamespace = 'flock'::regnamespace and t.typname !~ '^_?attempt_[0-9]{6}'`,
  `select concat_ws(' ', 'comment', d.objoid::regclass, d.objsubid, d.description)
     from pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass where ${OWN}`,
  `select concat_ws(' ', 'statistics', pg_get_statisticsobjdef(s.oid))
     from pg_statistic_ext s join pg_class c on c.oid = s.stxrelid where ${OWN}`,
  `select concat_ws(' ', 'schema', nspname, nspowner::regrole, nspacl) from pg_namespace where nspname = 'flock'`,
  `select concat_ws(' ', 'default rights', defaclrole::regrole, defaclobjtype, defaclacl) from pg_default_acl`,
];

/** Lines of the catalogs of one database, as its superuser sees them. */
export async function catalogOf(admin: Sql): Promise<string[]> {
  const lines: string[] = [];
  for (const query of QUERIES) {
    for (const row of await admin.unsafe(query)) lines.push(String(Object.values(row)[0]));
  }
  return lines.sort();
}
