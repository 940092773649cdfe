-- What a receiver keeps of deposits. A customer's balance is the sum of what is not reversed.
create table deposits (
  credit_key text primary key,
  incarnation integer not null,
  is_reversed boolean not null,
  chain text not null,
  token_contract text,
  user_ref text,
  address text not null,
  amount numeric(78) not null
);
