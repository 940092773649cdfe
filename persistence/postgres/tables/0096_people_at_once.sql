-- What two requests of people do at the same time, and what ends with a login.

-- Of two sets of recovery codes that are made at once the later one is all there is. Console A23.
create trigger recovery_codes_replaced after insert on recovery_code referencing new table as made
  for each statement execute function replace_recovery_codes();

create trigger sso_domain_limit after insert on sso_domain for each row execute function limit_domains();

-- A session of staff ends with the login that it began in, and with the consent, also one that begins at that moment.
alter table support_session add column login_id text collate "C"; -- null for one of a release before
create trigger support_access_over after delete on support_access
  for each row execute function end_support_sessions();
