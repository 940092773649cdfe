-- Publishes a version of the token registry with the tokens that it brings and its signatures, once. Answers what came
-- of it: `published`, `moved` (this version, or a later one, was published before), or of a review: `state` (it is not
-- accepted) and `same_person` (who publishes accepted it). Treasury K10, Q5–Q7.
--   review   accepted ──▶ published
create or replace function publish_registry(
  of_version int, of_content text, of_hash text, tokens jsonb, signatures jsonb, by_user text, of_review text)
  returns text
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  review token_review;
begin
  if jsonb_array_length(signatures) < 2 then
    raise exception 'version % has no two signatures', of_version using errcode = 'check_violation',
        constraint = 'registry_signed_by_two';
  end if;
  if of_review is not null then
    select * into review from token_review v where v.id = of_review for update;
    if review.state is distinct from 'accepted' then return 'state'; end if;
    if review.accepted_by = by_user then return 'same_person'; end if;
  end if;
  if exists (select from registry_version v where v.version >= of_version) then return 'moved'; end if;
  insert into registry_version (version, content, hash, published_by)
    values (of_version, of_content, of_hash, by_user) on conflict (version) do nothing;
  if not found then return 'moved'; end if;
  insert into registry_token (chain, contract, version)
    select t ->> 'chain', t ->> 'contract', of_version from jsonb_array_elements(tokens) t;
  insert into registry_signature (version, key, signature)
    select of_version, s ->> 'key', s ->> 'signature' from jsonb_array_elements(signatures) s;
  update token_review v set state = 'published', version = of_version, published_by = by_user, outcome = null,
         updated_at = clock_timestamp()
   where v.id = of_review;
  return 'published';
end $$;
grant execute on function publish_registry to flock_app;
