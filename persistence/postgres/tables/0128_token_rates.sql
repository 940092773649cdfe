-- What administrators say that a chain's native coin is worth in its tokens: the newest observation of each. Of the
-- platform, not of an account: which tokens there are is the registry's. Treasury W12.
create table token_rate (
  chain       text not null,
  contract    text collate "C" not null,
  numerator   amount not null constraint token_rate_numerator_positive check (numerator > 0),
  denominator amount not null constraint token_rate_denominator_positive check (denominator > 0),
  observed_at timestamptz not null,
  -- Null where RATES_FILE said it.
  set_by      text collate "C" references console_user,
  set_at      timestamptz not null default clock_timestamp(),
  primary key (chain, contract)
);
create index token_rate_of_user on token_rate (set_by); -- for its foreign key
-- An older observation never takes the place of a newer one.
create trigger token_rate_forward before update on token_rate for each row
  when (new.observed_at < old.observed_at) execute function refuse('token_rate_forward');
grant select, insert, update on token_rate to flock_app;
