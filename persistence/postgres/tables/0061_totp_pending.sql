-- A secret that is being enrolled stands beside the confirmed one until its first code: who began, and did not confirm,
-- keeps the factor that they have. Console A20.
alter table console_user add column sealed_totp_pending text;
