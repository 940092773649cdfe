-- Shared links whose address is a retired identity's: they get one of the present identity (payments S17).
alter table payment_link add column retired_at timestamptz;
create index payment_link_retired on payment_link (retired_at) where retired_at is not null and status <> 'closed';
create index payment_link_shared on payment_link (account_id, id) where address_mode = 'shared' and status <> 'closed';
-- What is known of a payer whose payment never had money is erased (payments S23).
create index payment_erasable on payment (updated_at) where status = 'expired' and client_key is not null;
