-- Records that an account asks for a token: the review of the contract, made where there is none, and the request,
-- once for each account. Under a lock of the account, so that of two requests for the last free place one gets it.
-- Answers what came of it: `made`, `known` or `limit` (so many are open, or there, already), and the review.
-- `listed_version` where the contract is in the registry: the review is `published` then.
create or replace function ask_for_token(
  of_account text, request_id text, ledger_of text, on_chain text, of_contract text, claimed_symbol text,
  claimed_decimals int, listed_version int, open_max int, all_max int, out outcome text, out review_id text)
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('token_request|' || of_account, 0));
  select r.review_id into review_id from token_request r join token_review v on v.id = r.review_id
   where r.account_id = of_account and v.chain = on_chain and v.contract = of_contract
     and v.account_id is not distinct from ledger_of;
  if found then
    outcome := 'known';
    return;
  end if;
  if (select count(*) filter (where v.state in ('under_review', 'accepted')) >= open_max or count(*) >= all_max
        from token_request r join token_review v on v.id = r.review_id where r.account_id = of_account) then
    outcome := 'limit';
    return;
  end if;
  insert into token_review (id, account_id, chain, contract, state, version)
    values (request_id, ledger_of, on_chain, of_contract,
            case when listed_version is null then 'under_review' else 'published' end, listed_version)
  on conflict do nothing;
  select v.id into review_id from token_review v
   where v.chain = on_chain and v.contract = of_contract and v.account_id is not distinct from ledger_of;
  update token_review v set asked = v.asked + 1 where v.id = review_id;
  -- What the chain's word declined because of another one's claim, or before the contract was there, is open again.
  update token_review v set state = 'under_review', outcome = null, next_read_at = clock_timestamp()
   where v.id = review_id and v.state = 'declined' and v.declined_by is null
     and (v.facts is null or v.facts ->> 'decimals' = claimed_decimals::text);
  insert into token_request (id, account_id, review_id, symbol, decimals)
    values (request_id, of_account, review_id, claimed_symbol, claimed_decimals);
  outcome := 'made';
end $$;
grant execute on function ask_for_token to flock_app;
