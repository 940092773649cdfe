-- A session of a console user is one row, the family of its refresh tokens: the newest token, and the one before it. What
-- comes with the family's name and another token was turned before, by its user or by a thief. RFC 9700 §4.14.2.
delete from refresh_token;
alter table refresh_token
  drop constraint refresh_token_pkey,
  add column family    text collate "C" not null primary key,
  add column previous  text collate "C",
  add column turned_at timestamptz,
  add constraint refresh_token_hash_once unique (hash),
  add constraint refresh_token_turned check ((previous is null) = (turned_at is null));
