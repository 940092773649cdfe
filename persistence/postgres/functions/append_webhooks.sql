-- The part of an append that is about endpoints and events. An endpoint that is disabled or deleted stops at once
-- (stop_endpoint). A publication is complete when it is written: with it come its deliveries, one for each endpoint
-- that subscribes, `pending` where the endpoint is enabled, else `held`. A replay is another delivery of the same
-- event, numbered after the highest one. What is due, and when, is by this database's clock: a caller whose clock is
-- ahead makes nobody wait.
create or replace function append_webhooks(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if batch ? 'webhooks' then
    insert into webhook (account_id, id, url, events, sealed_secrets, secret_preview, status, created_at, updated_at)
      select account_id, id, url, events, sealed_secrets, secret_preview, status, created_at, updated_at
        from jsonb_to_recordset(batch -> 'webhooks')
          r(account_id text, id text, url text, events text[], sealed_secrets text[], secret_preview text, status text,
            created_at timestamptz, updated_at timestamptz)
    on conflict (account_id, id) do update set
      url = excluded.url, events = excluded.events, sealed_secrets = excluded.sealed_secrets,
      secret_preview = excluded.secret_preview, status = excluded.status, updated_at = excluded.updated_at;
    -- I16: what an endpoint has not got when it is disabled or deleted stays held.
    perform stop_endpoint(r.account_id, r.id)
      from jsonb_to_recordset(batch -> 'webhooks') r(account_id text, id text, status text) where r.status <> 'enabled';
  end if;
  if batch ? 'publications' then
    -- Complete at once: its deliveries become durable with it, one for every endpoint that subscribes to it. An
    -- endpoint that is disabled keeps them as `held`.
    with numbered as materialized (
      select nextval('publication_seq_seq') as seq, ordered.* from (
        select * from rows from (jsonb_to_recordset(batch -> 'publications')
            as (account_id text, event_id text, event text, body text, order_key text, to_all boolean,
                created_at timestamptz, delivery_id text))
          with ordinality r(account_id, event_id, event, body, order_key, to_all, created_at, delivery_id, n)
         order by n) ordered
    ), published as (
      insert into publication (account_id, event_id, seq, event, body, order_key, to_all, created_at, completed_at)
        overriding system value
        select account_id, event_id, seq, event, body, order_key, to_all, created_at, clock_timestamp() from numbered
    )
    insert into delivery (id, account_id, event_id, webhook_id, event, seq, order_key, status,
        next_attempt_at, created_at)
      select numbered_id(p.delivery_id, row_number() over (partition by p.account_id, p.event_id order by w.id)),
             p.account_id, p.event_id, w.id, p.event, p.seq, p.order_key,
             case w.status when 'enabled' then 'pending' else 'held' end,
             case w.status when 'enabled' then least(p.created_at, clock_timestamp()) end, p.created_at
        from numbered p
        join webhook w on w.account_id = p.account_id and w.status <> 'deleted'
            and (p.to_all or p.event = any (w.events));
  end if;
  if batch ? 'replays' then
    insert into delivery (id, account_id, event_id, webhook_id, event, replay, seq, order_key, status,
        next_attempt_at, created_at)
      select r.new_delivery_id, d.account_id, d.event_id, d.webhook_id, d.event,
             -- Several replays of one event in a batch count on from each other.
             (select max(o.replay) from delivery o where o.webhook_id = d.webhook_id and o.event_id = d.event_id)
               + row_number() over (partition by d.webhook_id, d.event_id order by r.new_delivery_id),
             d.seq, d.order_key, case w.status when 'enabled' then 'pending' else 'held' end,
             case w.status when 'enabled' then least(r.now, clock_timestamp()) end, r.now
        from jsonb_to_recordset(batch -> 'replays') r(account_id text, delivery_id text, new_delivery_id text,
            now timestamptz)
        join delivery d on d.id = r.delivery_id and d.account_id = r.account_id
        join webhook w on w.account_id = d.account_id and w.id = d.webhook_id and w.status <> 'deleted';
    get diagnostics written = row_count;
    if written < jsonb_array_length(batch -> 'replays') then
      raise exception 'a delivery to replay does not exist or its endpoint is deleted'
        using errcode = 'foreign_key_violation', constraint = 'delivery_replays_delivery', table = 'delivery';
    end if;
  end if;
end $$;
