-- A person whom administrators let in no more. Console A46.
alter table console_user add column suspended_at timestamptz;
alter table login drop constraint login_why;
alter table login add constraint login_why
  check (why in ('logout', 'ended', 'reused', 'reset', 'password', 'email', 'replaced', 'suspended'));
