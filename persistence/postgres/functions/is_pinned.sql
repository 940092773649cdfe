-- Whether an identity is the account's pinned one now: asked by the statements that keep what an edge sends, so that
-- nothing of a former identity, or of an account that was wiped, is written behind a decision. True for null: what a
-- node of the release before passes on does not say whose it is. Console A49.
create or replace function is_pinned(of_account text, identity text) returns boolean
language sql stable security definer set search_path = flock, pg_temp as $$
  select identity is null
      or exists (select from pinned_identity p where p.account_id = of_account and p.public_key = identity);
$$;
grant execute on function is_pinned to flock_app;
