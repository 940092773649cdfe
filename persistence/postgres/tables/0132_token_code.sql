-- What the contract of a token ran when it was looked at last and nothing was said against it. Of the platform, not of
-- an account: which tokens there are is the registry's. Treasury K18.
create table token_code (
  chain    text not null,
  contract text collate "C" not null,
  code     text not null constraint token_code_length check (length(code) between 1 and 200),
  noted_at timestamptz not null default clock_timestamp(),
  primary key (chain, contract)
);
grant select, insert, update on token_code to flock_app;
