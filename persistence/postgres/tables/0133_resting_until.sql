-- A rotation or a wipe ends what rested until then, however many addresses that are: the rows go page by page behind it
-- (forget_resting, payments S17).
alter table account add column resting_until timestamptz;
create index account_with_rest_behind on account (account_id) where resting_until is not null; -- forget_resting
