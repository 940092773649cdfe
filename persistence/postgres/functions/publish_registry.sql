-- Publishes a version of the token registry with the tokens that it brings and its signatures, once. Answers what came
-- of it: `published`, `moved` (this version, or a later one, was published before), or of a review or a proposal:
-- `state` (it is not accepted, or not open) and `same_person` (who publishes accepted, or proposed, it). Treasury K10,
-- Q5–Q7.
--   review    accepted ──▶ published
--   proposal  proposed ──▶ published
drop function if exists publish_registry(int, text, text, jsonb, jsonb, text, text); -- a release of before proposals
create or replace function publish_registry(
  of_version int, of_content text, of_hash text, tokens jsonb, signatures jsonb, by_user text, of_review text,
  of_proposal text default null)
  returns text
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  review token_review;
  proposal registry_proposal;
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
  if of_proposal is not null then
    select * into proposal from registry_proposal p where p.id = of_proposal for update;
    if proposal.state is distinct from 'proposed' then return 'state'; end if;
    if proposal.proposed_by = by_user then return 'same_person'; end if;
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
  update registry_proposal p set state = 'published', version = of_version, published_by = by_user,
         updated_at = clock_timestamp()
   where p.id = of_proposal;
  return 'published';
end $$;
grant execute on function publish_registry to flock_app;
