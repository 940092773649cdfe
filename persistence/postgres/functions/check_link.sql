-- I8: a block is above its parent. `below` is the block that it should follow, null for the first of a ledger.
create or replace function check_link(of_ledger text, link jsonb, below jsonb) returns void language plpgsql as $$
begin
  if ((link ->> 'height')::bigint > (link ->> 'parentHeight')::bigint or link ->> 'height' = '0')
     and (below is null or (link ->> 'parentHeight' = below ->> 'height'
         and link ->> 'parentHash' = below ->> 'hash')) then
    return;
  end if;
  raise exception 'block % of % does not follow %', link ->> 'height', of_ledger,
      coalesce(below ->> 'hash', 'its parent')
    using errcode = 'check_violation', constraint = 'branch_is_linked', table = 'block_link';
end $$;
