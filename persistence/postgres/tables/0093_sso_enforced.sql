-- Single sign-on that is enforced, and the owners who get in without it. Console A41.

-- Since when; null where it is not. When issuer, client or secret last changed: who came by it before proves nothing.
alter table sso_connection add column enforced_at timestamptz;
alter table sso_connection add column changed_at timestamptz not null default now();
update sso_connection set changed_at = created_at;

-- An owner who gets in by password and factor where single sign-on is enforced.
alter table membership add column break_glass boolean not null default false;
create trigger membership_break_glass_of_owner before insert or update on membership for each row
  when (new.break_glass and new.role <> 'owner') execute function clear_break_glass();

-- False for who came by a provider and never had a password: the one that is stored is nobody's.
alter table console_user add column has_password boolean not null default true;
create trigger console_user_password_set before update of password_hash on console_user for each row
  when (new.password_hash is distinct from old.password_hash) execute function note_password();
update console_user u set has_password = false
 where exists (select from sso_identity i where i.user_id = u.id)
   and not exists (select from login l where l.user_id = u.id and l.method like 'password%');

-- One of them stays while it is enforced: with the role, the password and a factor.
create trigger break_glass_kept after update or delete on membership for each row
  when (old.break_glass) execute function keep_break_glass();
create trigger break_glass_kept after update of totp_confirmed, has_password on console_user for each row
  when ((old.totp_confirmed and not new.totp_confirmed) or (old.has_password and not new.has_password))
  execute function keep_break_glass();
create trigger break_glass_kept after delete on passkey for each row execute function keep_break_glass();
create trigger break_glass_kept after insert or update of enforced_at on sso_connection for each row
  when (new.enforced_at is not null) execute function keep_break_glass();
