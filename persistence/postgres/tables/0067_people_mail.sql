-- Letters to people that hang on no event, and the links that they carry. Console A4–A10.

-- Tokens of links: their hashes alone. The newest of a kind and subject is open; what ended stays ended, and is kept
-- for a while, so that its refusal can say why.
create table mail_token (
  hash       text collate "C" primary key constraint mail_token_hash check (hash ~ '^[0-9a-f]{64}$'),
  kind       text not null constraint mail_token_kind check (kind in ('verify', 'reset', 'email', 'undo')),
  subject    text collate "C" not null, -- the user, or the email where nobody has it yet
  email      text not null constraint mail_token_email_lower check (email = lower(email)),
  user_id    text collate "C" references console_user, -- nobody for an email that is not known
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at   timestamptz,
  why        text constraint mail_token_why check (why in ('used', 'replaced', 'revoked')),
  constraint mail_token_ended check ((ended_at is null) = (why is null))
);
create unique index mail_token_newest on mail_token (kind, subject) where ended_at is null;
create index mail_token_of_user on mail_token (user_id) where user_id is not null; -- what a reset ends
create index mail_token_age on mail_token (expires_at); -- the daily purge
create trigger mail_token_ended_once before update on mail_token for each row
  when (old.ended_at is not null and new is distinct from old) execute function refuse('mail_token_ended_once');
grant select, insert, update, delete on mail_token to flock_app;

-- The outbox of these letters, beside that of `mail`. The token of a link is sealed with SECRET_KEY until it is sent.
create table letter (
  id              text collate "C" primary key,
  kind            text not null,
  language        text not null default 'en',
  recipient       text not null,
  user_id         text collate "C",
  organization_id text collate "C",
  sealed_token    text,
  facts           jsonb not null, -- what its text names; nothing of it is secret
  attempts        int  not null default 0,
  next_attempt_at timestamptz,
  claimed_until   timestamptz,
  sent_at         timestamptz,
  last_error      text,
  created_at      timestamptz not null,
  constraint letter_due_until_sent check ((sent_at is null) = (next_attempt_at is not null)),
  constraint letter_forgets_token check (sent_at is null or sealed_token is null)
);
create index letter_due on letter (next_attempt_at) where sent_at is null; -- the sender
create index letter_sent on letter (sent_at) where sent_at is not null; -- the daily purge
grant select, insert, update, delete on letter to flock_app;
