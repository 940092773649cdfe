-- When a node of the chain last told its head, whether or not that had risen: how old everything is that is known of the chain.
alter table chain_head add column heard_at timestamptz;
