-- An endpoint that is disabled or deleted receives nothing from now on: the first page of what waits for it is held at
-- once (hold_deliveries), the rest by work_backlog, also when it is enabled again before.
create or replace function stop_endpoint(of_account text, endpoint text) returns void language plpgsql as $$
begin
  perform hold_deliveries(of_account, endpoint, 1000);
  update webhook w set backlog = true, held_through = (select s.last_value from publication_seq_seq s)
   where w.account_id = of_account and w.id = endpoint
     and exists (select from delivery d where d.webhook_id = endpoint and d.account_id = of_account
         and d.next_attempt_at is not null and d.status in ('pending', 'failed'));
end $$;
