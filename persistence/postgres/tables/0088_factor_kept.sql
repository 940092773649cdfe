-- An owner of live addresses keeps a second factor, also where the last two are taken away at once. Console A21.
create trigger factor_kept after delete on passkey for each row execute function keep_factor();
create trigger factor_kept after update of totp_confirmed on console_user for each row
  when (old.totp_confirmed and not new.totp_confirmed) execute function keep_factor();
