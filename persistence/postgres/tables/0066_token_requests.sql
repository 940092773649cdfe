-- Requests for tokens that the catalogue lacks, and contracts on simulated ledgers. No money is here, so the
-- application writes these tables row by row (persistence/postgres/token-request-store.ts). Treasury Q.

-- One review for each contract, whoever asks for it; `account_id` where the contract is on the simulated ledger of a
-- sandbox account. `facts` is what the chain said of it: {symbol, name, decimals, hazards, height}.
create table token_review (
  id             text collate "C" primary key,
  account_id     text collate "C" references account,
  chain          text not null,
  contract       text collate "C" not null,
  state          text not null constraint token_review_state
                   check (state in ('under_review', 'accepted', 'published', 'declined')),
  facts          jsonb,
  read_at        timestamptz,
  -- When the chain is asked (again); what kept it from answering.
  next_read_at   timestamptz not null default clock_timestamp(),
  trouble        text,
  outcome        text,
  hazards_known  text[] not null default '{}',
  -- Null of one that the chain's own word declined: another request may have it read again.
  declined_by    text collate "C" references console_user,
  accepted_by    text collate "C" references console_user,
  published_by   text collate "C" references console_user,
  version        int,
  -- Accounts that asked, each once. Q3.
  asked          int not null default 0,
  created_at     timestamptz not null default clock_timestamp(),
  updated_at     timestamptz not null default clock_timestamp(),
  constraint token_review_facts check ((facts is null) = (read_at is null)),
  -- What is accepted was read.
  constraint token_review_accepted check (state <> 'accepted' or (accepted_by is not null and facts is not null)),
  constraint token_review_outcome check (state <> 'declined' or outcome is not null),
  constraint token_review_published check (state <> 'published' or version is not null),
  -- Q6: two people.
  constraint token_review_two_people check (published_by is null or published_by <> accepted_by)
);
create unique index token_review_of_contract on token_review (chain, contract, coalesce(account_id, ''));
create index token_review_of_account on token_review (account_id); -- for its foreign key
create index token_review_unread on token_review (next_read_at) where facts is null and state = 'under_review';
create index token_review_by_state on token_review (state, id);
-- What was published stays.
create trigger token_review_stays_published before update on token_review for each row
  when (old.state = 'published' and (new.state, new.version) is distinct from (old.state, old.version))
  execute function refuse('token_review_stays_published');
grant select, insert, update on token_review to flock_app;

-- Who asked, and what they said of it. Q2: once for each account.
create table token_request (
  id         text collate "C" primary key,
  account_id text collate "C" not null references account,
  review_id  text collate "C" not null references token_review,
  symbol     text not null,
  decimals   int  not null constraint token_request_decimals check (decimals between 0 and 36),
  created_at timestamptz not null default clock_timestamp(),
  constraint token_request_once unique (account_id, review_id)
);
create index token_request_of_account on token_request (account_id, id);
create index token_request_of_review on token_request (review_id);
grant select, insert on token_request to flock_app;

-- Contracts that a sandbox account put on its simulated ledgers. Q9.
create table sandbox_token (
  account_id text collate "C" not null references account,
  chain      text not null,
  contract   text collate "C" not null,
  symbol     text not null,
  decimals   int  not null constraint sandbox_token_decimals check (decimals between 0 and 36),
  hazards    text[] not null default '{}',
  primary key (account_id, chain, contract)
);
grant select, insert, update, delete on sandbox_token to flock_app;
