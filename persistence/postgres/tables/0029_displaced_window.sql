-- A displaced fact may still be in a block of the branch that replaced its own: in an unproven one above the fork, up to where
-- that branch had been read. Only unresolved heights in (displaced_above, displaced_until] hold its reversal back. Null, null
-- while it is not displaced.
alter table fact add column displaced_above bigint, add column displaced_until bigint;
create index fact_displaced on fact (ledger) where status = 'displaced';

-- Those that wait today: back along their abandoned branch to the block that it forked from; where that is not kept any more,
-- every unresolved height counts.
with recursive back as (
  select f.ledger, f.txid, f.output_index, l.parent_hash, l.parent_height
    from fact f join block_link l on l.ledger = f.ledger and l.height = f.height and l.hash = f.block_hash and l.orphaned
   where f.status = 'displaced'
  union all
  select b.ledger, b.txid, b.output_index, l.parent_hash, l.parent_height
    from back b join block_link l on l.ledger = b.ledger and l.height = b.parent_height and l.hash = b.parent_hash and l.orphaned
), fork as (
  select ledger, txid, output_index, min(parent_height) as height from back group by ledger, txid, output_index
)
update fact f
   set displaced_above = coalesce((select k.height from fork k
         where k.ledger = f.ledger and k.txid = f.txid and k.output_index = f.output_index), -1),
       displaced_until = c.height
  from chain_cursor c
 where c.ledger = f.ledger and f.status = 'displaced';
