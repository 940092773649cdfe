-- An administrator's decision about a batch whose addresses another account claims: `dropped` makes the batch `created`
-- again, without these rows; `refused` leaves it as it is, for good. Returns whether the review was open.
create or replace function decide_import_review(of_review text, decision text, by_whom text) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  review import_review;
begin
  update import_review r set state = decision, decided_at = clock_timestamp(), decided_by = by_whom
   where r.id = of_review and r.state = 'open' and decision in ('dropped', 'refused')
     and exists (select from import_batch b where b.account_id = r.account_id and b.id = r.batch_id
                    and b.state = 'conflict')
  returning * into review;
  if not found then return false; end if;
  if decision = 'dropped' then
    update import_batch b set state = 'created', drops_claimed = true
     where b.account_id = review.account_id and b.id = review.batch_id and b.state = 'conflict';
  end if;
  return true;
end $$;
grant execute on function decide_import_review to flock_app;
